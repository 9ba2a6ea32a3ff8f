# SPDX-License-Identifier: Apache-2.0
"""Lists (.csv, .tsv, .jsonl) as people have them: `forebay init` and then
`forebay pull` is all that is typed. The rows are as in test_corpus.py."""

from collections import Counter

import harness
import test_corpus

from test_corpus import IMAGE, Note, picture, save


def listed(*columns, to="train.csv"):
    """A list of pictures with these further columns, each with the values of
    four rows."""
    def make(root):
        for i in range(4):
            save(root / f"images/{i}.jpg", picture(i))
        values = zip(*(column[1] for column in columns))
        save(root / to, ",".join(["image", *(c[0] for c in columns)]) + "\n" +
             "".join(f"images/{i}.jpg,{','.join(map(str, row))}\n"
                     for i, row in enumerate(values)))
    return make


def texts_and_labels_in_files(root):
    listed(("caption", [f"c/{i}.txt" for i in range(4)]),
           ("label", [f"c/{i}.cls" for i in range(4)]))(root)
    for i in range(4):
        save(root / f"c/{i}.txt", f"picture {i}")
        save(root / f"c/{i}.cls", f"{i}")


ROWS = [
    ("columns with names of members of tars", listed(
        ("cls", (0, 1, 2, 3)), ("label", "abab"), ("txt", ("a cat", "b c",
                                                           "d e", "f g")),
        ("json", (5, 6, 7, 8))),
     {"image": (4, *IMAGE), "cls": Counter([0, 1, 2, 3]),
      "label": Counter([0, 0, 1, 1]), "txt": (4, 8),
      "json": Counter([5, 6, 7, 8])}),
    ("a column cls of words", listed(("cls", "abcd")),
     {"cls": Counter([0, 1, 2, 3])}),
    ("a column with a dot in its name", listed(("image.cls", "0101")), Note(
        'left out: column "image.cls": no field can have this name: rename '
        "it, as in image_cls", {"image": (4, *IMAGE)})),
    ("columns of texts and labels in files", texts_and_labels_in_files, Note(
        'in a list\nleft out: text "caption.txt": choose its max_length in the '
        "file, and remove the # there\nwrote ",
        {"image": (4, *IMAGE), "label": Counter([0, 1, 2, 3])})),
]


class Lists(test_corpus.Corpus):
    rows = ROWS


if __name__ == "__main__":
    harness.main()
