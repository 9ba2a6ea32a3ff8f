# SPDX-License-Identifier: Apache-2.0
"""Data that can be read in two ways, of which one would be wrong without a word:
splits or classes, pairs or classes, a header or a row. The rows are as in
test_corpus.py."""

import harness
import test_corpus

from collections import Counter

from test_corpus import IMAGE, Note, Remedy, pictures_at


def folders(*names, files=("0.jpg", "1.jpg", "2.jpg")):
    """Pictures of these names in each of the folders."""
    return pictures_at(*(f"{name}/{file}" for name in names for file in files))


SPLITS = "look like splits, not classes: write a pipeline for each: forebay in"

ROWS = [
    ("Places365: data_256 and val_256", folders(
        "data_256/a/airfield", "data_256/a/alley", "val_256"),
     f"the folders data_256, val_256 {SPLITS}"),
    ("Omniglot", folders(
        *(f"images_{split}/{name}" for split in ("background", "evaluation")
          for name in ("Greek/c1", "Latin/c1"))),
     f"the folders images_background, images_evaluation {SPLITS}"),
    ("LOL", folders("our485/low", "our485/high", "eval15/low", "eval15/high"),
     f"the folders eval15, our485 {SPLITS}"),
    ("a folder of files beside one of folders", folders("x", "y/k", "y/l"),
     "the folder x holds only files, and y only folders, so they do not look "
     "like classes: write a pipeline for each: forebay init /"),
    ("two classes, one called test_tube", folders(
        "bus", "test_tube", files=("7.jpg",)),
     {"image": (2, *IMAGE), "label": Counter([0, 1])}),
]


class Doubts(test_corpus.Corpus):
    rows = ROWS


if __name__ == "__main__":
    harness.main()
