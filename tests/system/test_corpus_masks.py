# SPDX-License-Identifier: Apache-2.0
"""Masks and boxes as people have them: `forebay init`, the command that it prints, and
then `forebay pull`. The rows are as in test_corpus.py."""

import json

from collections import Counter

import harness
import numpy
import test_corpus

from PIL import Image
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


def coloured(number):
    """Rows of two colours of class_dict(): pole and sky, or for 0 pole and tree."""
    pixels = numpy.full((40, 48, 3), (64, 0, 128), "u1")
    pixels[::2] = (128, 128, 128) if number else (0, 128, 0)
    return Image.fromarray(pixels)


def coloured_files(*names):
    """Files of these names, of which {} is the number of each of four samples; those
    with an L or called mask are masks."""
    def make(root):
        for i in range(4):
            for name in names:
                is_mask = "L." in name or "mask" in name or "label" in name
                save(root / name.format(i),
                     coloured(i) if is_mask else picture(i))
    return make


def class_dict(root):
    save(root / "class_dict.csv",
         "name,r,g,b\nsky,128,128,128\npole,64,0,128\ntree,0,128,0\n")


def ids(**wanted):
    """The ids of four masks of coloured(), and how many masks have these."""
    return lambda masks: Counter(
        "_" + "".join(str(i) for i in sorted({*mask.ravel().tolist()}))
        for mask in masks[:4]) == wanted


CLASSES = ids(_01=3, _12=1)


def listed_masks(name, text):
    def make(root):
        for i in range(4):
            save(root / f"im/{i}.jpg", picture(i))
            save(root / f"ma/{i}.png", coloured(i))
        save(root / name, text)
    return make


COLOURS = "mask.png: its colours are no class ids; if it is a second picture, "

ROWS = [
    *((f"CamVid, the masks end with {end}: {name}", all_of(
        coloured_files("train/{}.png", "train_labels/{}" + end, "val/{}.png",
                       "val_labels/{}" + end), *tables), Remedy(
           "train_labels has the masks of the pictures in train (", "pairs",
           Note(COLOURS, {"image": (4, *IMAGE)},
                {"train": {"mask": found},
                 "val": {"mask": (64, 224, 224, 1)}})))
      for end in ("_L.png", ".png") for name, tables, found in (
          ("class_dict.csv", [class_dict], CLASSES),
          ("no class_dict.csv", [], ids(_01=1, _12=3)))),
    *((f"DeepGlobe in '{folder}' with class_dict.csv", all_of(
        coloured_files(folder + "{}_sat.jpg", folder + "{}_mask.png"),
        class_dict), Remedy(
            "_mask.png seems to be the mask of the picture beside it; ", "",
            Note(COLOURS, {"image": (4, *IMAGE)},
                 {"train": {"mask": CLASSES}})))
      for folder in ("", "train/")),
    *((f"a list of masks in colours: {name}", all_of(
        listed_masks(name, text), class_dict), Note(
            COLOURS, {"image": (4, *IMAGE)},
            {"train": {"mask": CLASSES}}))
      for name, text in (
          ("train.csv", "Image,Mask\n" + "".join(
              f"im/{i}.jpg,ma/{i}.png\n" for i in range(4))),
          ("train.jsonl", "".join(json.dumps(
              {"image": f"im/{i}.jpg", "mask": f"ma/{i}.png"}) + "\n"
              for i in range(4))))),
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
