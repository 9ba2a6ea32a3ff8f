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


def xml(*names):
    """Boxes as Pascal VOC's, in files of these names; the last is empty."""
    def make(root):
        for name in names:
            for i in range(4):
                box = "".join(
                    f"<{k}>{x}</{k}>" for k, x in zip(
                        ("xmin", "ymin", "xmax", "ymax"), (10, 5, 30, 15)))
                save(root / name.format(i),
                     "<annotation><size><width>40</width><height>20</height>"
                     "</size>" + (f"<object><name>{'ab'[i % 2]}</name><bndbox>"
                                  f"{box}</bndbox></object>" if i < 3 else "")
                     + "</annotation>")
    return make


BOXES = {"image": (4, *IMAGE), "boxes": Counter(
    [0, .5, .5, .5, .5] * 2 + [1, .5, .5, .5, .5] + [0] * 5)}
XML = ("left out: annotations: its XML files are boxes as those of Pascal VOC; "
       "to read them, too, write lists, and run init again: (cd /")

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
    ("Images and Masks", all_of(
        files("Images/{}.jpg"), masks_in("My Masks", "")),
     Remedy("the folder Images seems to be one of parallel folders, whose "
            "names are lower-case letters, digits, _ and -: rename it: (cd ",
            "", {"images": (4, *IMAGE), "my_masks": (4, 224, 224, 1)})),
    ("dogs and cats of train and val", files(
        "train/cat.{}.jpg", "train/dog.{}.jpg", "val/cat.{}.jpg",
        "val/dog.{}.jpg", "test1/{}.jpg"),
     Remedy("that cat.0.jpg has the extension 0.jpg: move such files into "
            "class folders: (cd /", "",
            {"image": (8, *IMAGE), "label": Counter([0] * 4 + [1] * 4)}),
     ("val", {"label": [0, 0, 0, 0, 1, 1, 1, 1]})),
    ("dogs and cats in one folder", files("cat.{}.jpg", "dog.{}.jpg"),
     Remedy("move such files into class folders: (cd /", "",
            {"image": (8, *IMAGE), "label": Counter([0] * 4 + [1] * 4)})),
    ("one word before the dots", files("img.{}.jpg"),
     Remedy("rename such files: find /", "", {"image": (4, *IMAGE)})),
    ("Cityscapes with val", test_corpus.cityscapes, Remedy(
        "Cityscapes' pictures and masks have different names", "",
        {"image": (3, *IMAGE), "mask": (3, 224, 224, 1)}),
     ("val", {"mask": (64, 224, 224, 1)})),
    ("Pascal VOC with val", test_corpus.voc, Remedy(
        "in VOCdevkit/VOC2012: Pascal VOC's ImageSets/", "VOCdevkit/VOC2012",
        {"image": (2, *IMAGE), "mask": (2, 224, 224, 1)}),
     ("val", {"mask": (64, 224, 224, 1)})),
    ("folds of class folders", files(
        *(f"fold{k}/{name}/{k}{{}}.jpg" for k in range(3)
          for name in ("cat", "dog"))),
     Remedy("the folders fold0, fold1, fold2 are folds, not classes: for one "
            "of them: forebay init /", "",
            {"image": (16, *IMAGE), "label": Counter([0] * 8 + [1] * 8)}),
     ("val", {"label": [0, 0, 0, 0, 1, 1, 1, 1]})),
    ("folds of pictures", files("fold_1/{}.jpg", "fold_2/{}.jpg"),
     "are folds, not classes: to read all of them: forebay init /"),
    ("XML of Pascal VOC", all_of(
        files("images/{}.jpg"), xml("annotations/{}.xml")),
     Note(XML, {"image": (4, *IMAGE)}, {"train": BOXES})),
    ("XML of Pascal VOC in capitals", all_of(
        files("JPEGImages/{}.jpg"), xml("Annotations/{}.xml")),
     Note(XML.replace("annotations", "Annotations"), {"image": (4, *IMAGE)},
          {"train": BOXES})),
    ("XML of Pascal VOC for each split", all_of(
        files("images/train/{}.jpg", "images/val/{}.jpg"),
        xml("annotations/train/{}.xml", "annotations/val/{}.xml")),
     Note(XML, {"image": (4, *IMAGE)},
          {"train": BOXES, "val": {"boxes": (64, 5)}})),
    ("other XML", all_of(
        files("images/{}.jpg"),
        files("annotations/{}.xml", content="<annotation/>")), Note(
        "left out: annotations: its XML files are not read; write what you "
        "need of them into a list", {"image": (4, *IMAGE)})),
    ("XML beside masks", all_of(
        files("images/{}.jpg"), masks_in("annotations", ""),
        xml("annotations/{}.xml")),
     {"images": (4, *IMAGE), "annotations": (4, 224, 224, 1)}),
    ("captions", all_of(
        files("images/{}.jpg"), files("captions/{}.txt", content="a cat\n")),
     Remedy("captions has texts of the pictures in images: write a list of "
            "both, and run init again:", "",
            {"image": (4, *IMAGE), "text": (4, 8)})),
]


class Layouts(test_corpus.Corpus):
    rows = ROWS


if __name__ == "__main__":
    harness.main()
