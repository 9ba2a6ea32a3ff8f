# SPDX-License-Identifier: Apache-2.0
"""Masks and boxes as people have them: `forebay init`, the command that it prints, and
then `forebay pull`. The rows are as in test_corpus.py."""

import json

import harness
import test_corpus

from test_corpus import IMAGE, Note, Remedy, all_of, encoded, mask, picture, save
from test_corpus_layouts import PAIRS, files, masks_in, xml


def coco(name, folder="", **more):
    """COCO's JSON of four pictures in a folder, with two boxes each; the second has
    more keys."""
    def make(root):
        for i in range(4):
            save(root / folder / f"{i}.jpg", picture(i))
        save(root / name, json.dumps({
            "images": [{"id": i, "file_name": f"{i}.jpg", "width": 48,
                        "height": 40} for i in range(4)],
            "annotations": [{"id": 2 * i + k, "image_id": i, "category_id": 3 + k,
                             "bbox": [12, 10, 24, 20], **(more if k else {})}
                            for i in range(4) for k in range(2)]}))
    return make


ROWS = [
    *((f"COCO's JSON beside images: a second box with {more}",
       coco("annotations.json", "images", **more), Remedy(
           "annotations.json is not read as a list: write JSON lines", "",
           {"image": (4, *IMAGE), "boxes": (4, n)}))
      for n, more in ((5, {"iscrowd": 1}), (10, {"iscrowd": 0}),
                      (10, {"iscrowd": None}))),
    ("Pascal VOC with a folder of masks, and splits of boxes alone", all_of(
        files("JPEGImages/{}.jpg"), xml("Annotations/{}.xml"),
        masks_in("SegmentationClass", ""),
        lambda root: save(root / "ImageSets/Main/train.txt", "0\n1\n2\n3\n")),
     "for the masks in SegmentationClass instead, a list in pairs/: (cd /"),
    ("ISIC: pictures of Test, without masks", all_of(
        files("Train/{}.jpg", "Test/{}.jpg"),
        masks_in("Train_GroundTruth", "")),
     Remedy("): write lists of the pairs, without the pictures in Test, then: "
            "forebay init /", "pairs", PAIRS)),
]


class Masks(test_corpus.Corpus):
    rows = ROWS


if __name__ == "__main__":
    harness.main()
