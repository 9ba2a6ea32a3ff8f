# SPDX-License-Identifier: Apache-2.0
"""Layouts of folders as people have them: `forebay init`, the command that it
prints, and then `forebay pull`. The rows are as in test_corpus.py."""

from collections import Counter

import harness
import test_corpus

from test_corpus import IMAGE, Note, Remedy, mask, picture, save


def files(*names, content=None):
    """Files of these names, of which {} is the number of each of four samples.
    Pictures called mask are masks."""
    def make(root):
        for i in range(4):
            for name in names:
                path = root / name.format(i)
                made = mask(i) if "mask" in path.name else picture(i)
                save(path, made if content is None else content)
    return make


def masks_in(folder, begin):
    def make(root):
        for i in range(4):
            save(root / folder / f"{begin}{i}.png", mask(i))
    return make


def all_of(*makers):
    def make(root):
        for maker in makers:
            maker(root)
    return make


PAIRS = {"image": (4, *IMAGE), "mask": (4, 224, 224, 1)}

ROWS = [
    ("Carvana", files("train/{}.jpg", "train_masks/{}_mask.png", "test/{}.jpg"),
     Remedy("train_masks has the masks of the pictures in train (", "pairs",
            PAIRS)),
    ("masks of one name in X_labels", all_of(
        files("data/x{}.jpg"), masks_in("data_labels", "x")),
     Remedy("data_labels has the masks of the pictures in data (", "pairs",
            PAIRS)),
    ("pairs of folders for each split", files(
        "train_images/{}.jpg", "train_masks/{}-mask.png", "val_images/{}.jpg",
        "val_masks/{}-mask.png"),
     Remedy("train_masks has the masks of the pictures in train_images (",
            "pairs", PAIRS), ("val", {"mask": (64, 224, 224, 1)})),
    ("a mask for a part of the pictures", all_of(
        files("train/{}.jpg", "train_masks/{}_mask.png"),
        files("train/more{}.jpg")),
     Remedy("train_masks has the masks of the pictures in train (", "pairs",
            PAIRS)),
    ("BUSI: names with blanks, and second masks", all_of(
        files("benign/benign ({}).png", "benign/benign ({})_mask.png",
              "normal/normal ({}).png", "normal/normal ({})_mask.png"),
        lambda root: save(root / "benign/benign (1)_mask_1.png", mask(1)),
        lambda root: save(root / "normal/x_masked.png", picture(1)),
        lambda root: save(root / "normal/x_masked_mask.png", mask(1))),
     Remedy("_mask.png seems to be the mask of the picture beside it", "",
            {"image": (9, *IMAGE), "mask": (9, 224, 224, 1),
             "label": Counter([0] * 4 + [1] * 5)})),
    ("masks of names with blanks", files(
        "images/a ({}).png", "masks/a ({})_mask.png"),
     Remedy("_mask.png seems to be the mask of images/a (", "",
            {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)})),
]


class Layouts(test_corpus.Corpus):
    rows = ROWS


if __name__ == "__main__":
    harness.main()
