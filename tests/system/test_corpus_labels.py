# SPDX-License-Identifier: Apache-2.0
"""Labels and values in texts, as people have them: objects and classes beside
pictures. The rows are as in test_corpus.py."""

import json
import os
import subprocess
import sys

from collections import Counter

import harness
import numpy
import test_corpus

from harness import FOREBAY
from test_corpus import (COMMAND, IMAGE, Note, Remedy, all_of, save, zipped)
from test_corpus_layouts import files

KINDS = {"boxes": "boxes", "turned": "polygons, keypoints or turned boxes as YOLO's",
         "classes": "classes"}
TOO = "to read them, too, write lists, and run init again: (cd /"
BOX = "1 0.5 0.25 0.5 0.5\n"
TRIANGLE = "0 0.25 0.5 0.75 0.5 0.5 1.0\n"
CORNERS = "0.25 0.0 0.75 0.0 0.75 0.5 0.25 0.5"


def labels(kind, content, after, folder="labels"):
    """Pictures and texts of this content in another folder."""
    return (all_of(files("images/{}.jpg"),
                   files(folder + "/{}.txt", content=content)),
            Note(f"left out: {folder}: its text files are {KINDS[kind]}; {TOO}",
                 {"image": (4, *IMAGE)},
                 {"train": {"image": (4, *IMAGE), **after}}))


def repeated(*values):
    """The values of each of four samples."""
    return Counter(values * 4)


def texts(contents):
    """Files of these names and contents."""
    def make(root):
        for name, content in contents.items():
            save(root / name, content)
    return make


def clouds(root):
    """Files of one to three points of four numbers."""
    for i in range(3):
        save(root / f"{i:06}.bin", numpy.arange(
            1, 5 + 4 * i, dtype="f4").tobytes())


def shares(*names):
    """Lists of two shares, with three rows and two."""
    def make(root):
        for name in names:
            for share, n in (("AAPL", 3), ("MSFT", 2)):
                save(root / name.format(share), "Date,Open\n" + "".join(
                    f"2020-01-0{i + 1},{i + .5}\n" for i in range(n)))
    return make


def wide(*names, labels=("cat", "dog")):
    """Lists of a word, 20 numbers and, but for test, a label."""
    def make(root):
        for name in names:
            is_test = name == "test"
            rows = [["id", *(f"x{i}" for i in range(20)), "target"]]
            rows += [[f"row{i}", *range(20), labels[i % 2]] for i in range(3)]
            save(root / f"{name}.csv", "".join(
                ",".join(map(str, row[:-1] if is_test else row)) + "\n"
                for row in rows))
    return make


def numbers(split="", ids=(), labels=(0, 1), n=20, words=None, names=True):
    """A list of ids, words, n numbers and labels, as far as they are given."""
    def row(i):
        return [*(ids[i:i + 1]), *(words[i:i + 1] if words else ()),
                *(i + j / 4 for j in range(n)), *(labels[i % 2:][:1])]
    header = [*(["id"] if ids else []), *(["word"] if words else []),
              *(f"f{j}" for j in range(n)), *(["Outcome"] if labels else [])]
    rows = [*([header] if names else []), *map(row, range(4))]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def digits(names, *splits):
    """Lists of 10 digits of 784 pixels, in which train and test differ."""
    pixels = [f"pixel{i}" for i in range(784)]
    return texts({name: (",".join([*(["label"] if has_label else []), *pixels]) +
                         "\n" if names else "") + "".join(
        ",".join([*([str(i)] if has_label else []), *(["0"] * 783), str(i * 9)])
        + "\n" for i in (*range(10), 0)) for name, has_label in splits})


def table_of(make):
    """The folder that the command of the note on such lists makes."""
    def run(root):
        make(root)
        said = subprocess.run([FOREBAY, "init", root], check=True,
                              capture_output=True, text=True).stderr
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        command = COMMAND.search(said)[0].split(" && forebay init ")[0]
        subprocess.run(command, check=True,
                       shell=True, env=dict(os.environ, PATH=path))
        return root / "table"
    return run


ROWS = [
    ("YOLO: polygons", *labels("turned", TRIANGLE + f"1 {CORNERS}\n", {
        "classes": repeated(0, 1), "polygon_sizes": repeated(3, 4),
        "polygons": (4, 14)})),
    ("YOLO: a box among polygons", *labels("boxes", BOX + TRIANGLE, {
        "classes": repeated(1, 0), "polygon_sizes": repeated(4, 3),
        "polygons": repeated(*map(float, CORNERS.split()),
                             .25, .5, .75, .5, .5, 1)})),
    ("YOLO: boxes by their corners", *labels("turned", f"3 {CORNERS}\n", {
        "boxes": repeated(3, *map(float, CORNERS.split()))})),
    ("YOLO: keypoints", *labels("turned", BOX[:-1] + " .5 .5 2 .25 .5 0\n", {
        "keypoints": repeated(1, .5, .25, .5, .5, .5, .5, 2, .25, .5, 0)})),
    ("YOLO: boxes with a confidence", *labels("turned", BOX[:-1] + " 0.75\n", {
        "boxes": repeated(1, .5, .25, .5, .5, .75)})),
    ("YOLO: names of classes", *labels("boxes", "dog" + BOX[1:] + "cat" + BOX[1:], {
        "boxes": repeated(1, .5, .25, .5, .5, 0, .5, .25, .5, .5)})),
    ("YOLO: tabs and CR", *labels(
        "boxes", BOX.replace(" ", "\t").replace("\n", "\r\n"),
        {"boxes": repeated(1, .5, .25, .5, .5)})),
    ("DOTA", *labels(
        "turned", "imagesource:GoogleEarth\ngsd:0.1\n"
        "1.0 2.0 9.0 2.0 9.0 7.0 1.0 7.0 small-vehicle 0\n"
        "1.0 2.0 9.0 2.0 9.0 7.0 1.0 7.0 plane 1\n",
        {"boxes": repeated(1, 1, 2, 9, 2, 9, 7, 1, 7,
                           0, 1, 2, 9, 2, 9, 7, 1, 7)}, "labelTxt")),
    ("a number in each text", *labels(
        "classes", "2\n", {"label": Counter([2] * 4)})),
    ("a word in each text", all_of(*labels("classes", "cat", {})[:1], files(
        "labels/2.txt", content="dog\n")), Note(
            "left out: labels: its text files are classes; " + TOO,
            {"image": (4, *IMAGE)}, {"train": {"label": Counter([0, 0, 0, 1])}})),
    ("a number in each text of a folder of another name", all_of(
        files("images/{}.jpg"), files("rank/{}.txt", content="5\n")), Remedy(
            "rank has classes of the pictures in images: write lists of both, "
            "and run init again:", "", {"label": Counter([5] * 4)})),
    ("a zip of polygons", zipped(labels("turned", TRIANGLE, {})[0]), Note(
        "left out: labels: its text files are polygons, keypoints or turned "
        "boxes, which a list can have: ", {"image": (4, *IMAGE)})),
    ("Darknet: texts beside the pictures in the only folder", all_of(
        files("obj_train_data/{}.jpg"), files("obj_train_data/{}.txt", content=BOX),
        files("train.txt", content="data/obj_train_data/0.jpg\n")), Note(
            "left out: the .txt files beside the pictures are boxes; " + TOO,
            {"image": (4, *IMAGE)},
            {"train": {"boxes": repeated(1, .5, .25, .5, .5)}})),
    ("Darknet: texts of train and valid", all_of(
        files("obj_train_data/{}.jpg"), files("obj_train_data/{}.txt", content=BOX),
        texts({"train.txt": "data/obj_train_data/0.jpg\n",
               "valid.txt": "data/obj_train_data/1.jpg\n"})), Remedy(
            "train.txt says which pictures in obj_train_data are of which split: "
            "write a list of each, with the files of obj_train_data, and run init "
            "again:", "", {"image": (1, *IMAGE),
                           "boxes": Counter([1, .5, .25, .5, .5])}),
     ("valid", {"image": (64, *IMAGE)})),
    ("a number in each text beside the pictures in train and val", all_of(
        *(files(f"{split}/{{}}.{end}", content=content)
          for split in ("train", "val")
          for end, content in (("jpg", None), ("txt", "7")))), Note(
            "left out: the .txt files beside the pictures are classes; " + TOO,
            {"image": (4, *IMAGE)},
            {"train": {"label": Counter([7] * 4)}, "val": {"label": [7] * 4}})),
    ("Keras YOLO: pictures and boxes in lines", all_of(
        files("images/{}.jpg"), files("train.txt", content="".join(
            f"images/{i}.jpg 8,12,35,49,1" + " 2,3,4,5,0" * i + "\n"
            for i in range(4)))), Remedy(
                "train.txt has boxes in lines: write a list of them:", "",
                {"image": (4, *IMAGE), "boxes": Counter(
                    [1, 8, 12, 35, 49] * 4 + [0, 2, 3, 4, 5] * 6 + [0] * 30)})),
    ("prices of shares", shares("{}.csv"), Remedy(
        "; to stream the rows of all, with the names of their lists:\n(cd /",
        "joined", {"file": Counter([0, 0, 0, 1, 1]),
                   "open": Counter([.5, .5, 1.5, 1.5, 2.5])})),
    *((f"prices of shares, and {word} lists of them", all_of(
        shares(word + "-{}.csv"), lambda root: [
            save(root / f"{share}.csv", "Date;Open\n2020-01-01;.5\n")
            for share in ("AAPL", "MSFT")]), Remedy(
        "; to stream the rows of all, with the names of their lists:\n(cd /",
        "joined", {"file": Counter([0, 0, 0, 1, 1])}))
      for word in ("commas", "labels")),
    ("prices of shares in train and test", shares("train/{}.csv", "test/{}.csv"),
     Remedy("; to stream the rows of all, with the names of their lists:\n(cd /",
            "joined", {"file": Counter([0, 0, 0, 1, 1])}),
     ("test", {"file": [0, 0, 0, 1, 1]})),
    ("prices of shares in folders and beside them", shares(
        "train/{}.csv", "test/{}.csv", "{}.csv"),
     "; lists are in folders, and beside these, too: to have a command that "
     "joins all of them, move them into the same folder\n"),
    ("prices of shares beside those of a test", shares(
        "{}.csv", "{}_test.csv", "{}_val.csv"),
     "/AAPL_test.csv\n"),
    ("a table of a list of more numbers than fields", table_of(
        wide("train", "val", "test")), {
            "x": Counter([float(i) for i in range(20)] * 3),
            "label": Counter([0, 1, 0])},
     ("val", {"label": [0, 1, 0]})),
    ("a list of more numbers than fields, and a label of numbers", table_of(
        wide("data", labels=("0.5", "2"))), {
            "x": (3, 20), "label": Counter([.5, 2, .5])}),
    *((f"many numbers: {name}", table_of(texts({"train.csv": content})), {
        "x": (4, 20), "label": Counter([0, 1, 0, 1])})
      for name, content in (
          ("a label of another name", numbers()),
          ("a label of words, and ids", numbers(
              ids=(842302, 842517, 84300903, 84348301), labels=("B", "M"))),
          ("a column id", numbers(ids=(1, 3, 2, 4))))),
    ("many numbers in folders of splits", texts({
        "train/a.csv": numbers(), "val/a.csv": numbers()}), Note(
            "left out: further values (f16, ", {})),
    ("more numbers than columns of a list, without a label", texts({
        "train.csv": numbers(n=300, labels=(), ids=(4, 2, 1, 3))}), Remedy(
            "more than 256 columns", "table", {"x": (4, 300)})),
    ("Kaggle's digits", digits(True, ("train.csv", True), ("test.csv", False)),
     Remedy("test.csv: line 1: more than 256 columns: to have all columns of "
            "numbers as one, x, beside the label", "table", {
                "x": (11, 784), "label": Counter([*range(10), 0])})),
    ("Kaggle's digits, those of test", digits(
        True, ("train.csv", True), ("test.csv", False)), Remedy(
            "more than 256 columns", "table/test", {"x": (4096, 784)})),
    ("digits without names of columns", digits(
        False, ("mnist_train.csv", True), ("mnist_test.csv", True)), Remedy(
            "more than 256 columns", "table", {
                "x": (11, 784), "label": Counter([*range(10), 0])}),
     ("test", {"x": (4096, 784)})),
    ("texts in two languages", texts({
        "train.de": "ein Haus\nja\n", "train.en": "a house\nyes\n",
        "val.de": "nein\n", "val.en": "no\n"}), Remedy(
            "train.de and train.en seem to be the same texts in two languages, "
            "line by line: write a list:", "",
            {"de": (2, 8), "en": (2, 8)}), ("val", {"en": (64, 8)})),
    ("texts in two languages of .txt", texts({
        "de.txt": "ein Haus\nja\n", "en.txt": "a house\nyes\n"}), Remedy(
            "de.txt and en.txt seem to be the same texts in two languages, ", "",
            {"de": (2, 8), "en": (2, 8)})),
    ("texts of which one has no partner", texts({
        "train.de": "ja\n", "train.en": "yes\n", "val.de": "nein\n"}),
     "the directory has no files of a known kind"),
    *((f"CoNLL: {name}", texts({"train.txt": content, "dev.txt": content}), Remedy(
        "dev.txt has sentences of words and tags: write a list:", "",
        {"words": (2, 8), "tags": Counter(tags)}),
       ("val", {"words": (64, 8)}))
      for name, content, tags in (
          ("tabs", "EU\tB-ORG\nsays\tO\n\nJoe\tB-PER\nB.\tI-PER\n",
           [0, 3, 1, 2]),
          ("blanks", "-DOCSTART- -X- O\n\nEU NN B-ORG\nsays VB O\n\nJoe NN "
           "B-PER\nB. NN I-PER\n", [0, 3, 1, 2]),
          ("columns of CoNLL-U", "# text = a\n1-2\tEUs" + 8 * "\t_" + "\n"
           + "".join(f"{i}\t{w}\t_\t{t}" + 6 * "\t_" + "\n" + end
                     for i, w, t, end in ((1, "EU", "X", ""), (2, "s", "V", "\n"),
                                          (1, "Joe", "X", ""), (2, "B", "V", ""))),
           [0, 1, 0, 1]))),
    *((f"libsvm: {test}", texts({
        train: "+1 1:0.5 3:1\n-1 2:2\n+1\n", test: "-1 4:7 # end\n+1 1:1\n"}),
       Remedy("has index:value pairs: write a table (needs NumPy):", "table",
              {"label": Counter([1, -1, 1])}), ("test", {"label": [-1, 1]}))
      for train, test in (("a9a", "a9a.t"), ("train.svm", "test.svm"),
                          ("train.txt", "test.txt"))),
    ("fastText", texts({
        "train.txt": "__label__a b c d\n__label__e f\n__label__a g\n"}), Remedy(
            "train.txt has texts after their labels: write a list:", "",
            {"text": (3, 8), "label": Counter([0, 1, 0])})),
    *((f"sentences of equally many words: {name}", texts({
        f"{split}.txt": "".join(line.format(i) for i in range(3))
        for split in splits}), Remedy(
            f"{splits[0]}.txt has a sentence in each line: write a list of texts:",
            "", {"text": (3, width)}))
      for name, splits, line, width in (
          ("one text", ["corpus"], "this is sentence {} .\n", 32),
          ("Penn Treebank", ["test", "train", "valid"], " a <unk> is N {} \n",
           16))),
    ("books", texts({f"b{i}.txt": f"It rained {i} days. " * 20 + "\n"
                     for i in range(3)}),
     "b0.txt is a text without token ids: write those of your tokenizer into "
     "b0.bin; or its bytes, as ids of type u8:\n(cd /"),
    ("LETOR: index:value pairs with qid", texts({
        "train.txt": "2 qid:7 1:0.5 3:1 # doc7\n0 qid:8 2:2\n1 qid:8 1:1\n"}),
     Remedy("has index:value pairs: write a table (needs NumPy):", "table",
            {"qid": Counter([7, 8, 8]), "label": Counter([2, 0, 1])})),
    ("libsvm: several labels", texts({
        "train.svm": "0,3 1:0.5 5:1\n1 2:1\n2,3,4 1:1\n"}),
     Remedy("has index:value pairs: write a table (needs NumPy):", "table",
            {"labels.lengths": Counter([2, 1, 3])})),
    ("libffm", texts({
        "train.ffm": "0 0:0:1 1:5:0.5\n1 0:1:1\n0 1:7:1 0:1:2\n"}),
     Remedy("has index:value pairs: write a table (needs NumPy):", "table",
            {"label": Counter([0, 1, 0]), "field.lengths": Counter([2, 1, 2]),
             "value.lengths": Counter([2, 1, 2])})),
    ("fastText: several labels", texts({
        "train.txt": "__label__a __label__b c\n__label__b d\n",
        "valid.txt": "__label__b e\n__label__b f\n"}), Remedy(
            "train.txt has texts after their labels: write a list:", "",
            {"labels": Counter([0, 1, 1, 0]), "labels.lengths": Counter([2, 1])}),
     ("valid", {"labels.lengths": [1, 1]})),
    ("LiDAR: files of floats", clouds, Remedy(
            "000000.bin has floats, no token ids: if each file is a sample, "
            "as points of a LiDAR, write a table, with N numbers for each "
            "point (needs NumPy):", "table",
            {"x.lengths": Counter([1, 2, 3])})),
    ("numbers in lines of several lengths", texts({
        "train.txt": "1 2 3\n4 5\n", "val.txt": "6 7\n"}), Remedy(
            "texts of numbers are not read (", "arrays",
            {"x.lengths": Counter([3, 2])}), ("val", {"x.lengths": [2]})),
    ("JSON: an object of columns", texts({
        "d.json": json.dumps({"x": [[0.5, 1], [2, 3.5], [4, 5]], "y": [0, 1, 0]})}),
     Remedy("d.json is not read as a list: write JSON lines, an object in each "
            "line:", "", {"x": Counter([.5, 1, 2, 3.5, 4, 5]),
                          "y": Counter([0, 1, 0])})),
    ("JSON: an object of splits is no table", texts({
        "d.json": json.dumps({"train": ["a.jpg", "b.jpg"], "val": ["c.jpg"] * 2})}),
     "d.json is not read as a list, and its form is not known: "),
    ("chats of parts and calls", texts({"train.jsonl": "".join(json.dumps({
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": f"hi {i}"}]},
            {"role": "bot", "content": None, "tool_calls": [{"id": "a"}]}]})
        + "\n" for i in range(3))}), Remedy(
            "train.jsonl: the column messages has chats, ", "",
            {"text": Counter(b"".join(
                b'user: hi %d\nbot: {"id":"a"}' % i + bytes(6)
                for i in range(3)))})),
    ("emotions: texts and classes after a semicolon", texts({
        f"{name}.txt": "i am well;joy\nso, so;sadness\n" * 4
        for name in ("train", "test")}), Remedy(
            "train.txt has rows of 2 columns, separated by ';', and no header: ",
            "", {"c2": Counter([0, 1] * 4)}),
     ("test", {"c2": [0, 1, 0, 1]})),
    ("series in class folders of train and test", texts({
        f"{split}/{name}/{i}.csv": "t,a,b\n" + "x,1,2.5\n" * (i + 1)
        for split in ("train", "test") for name in ("run", "walk")
        for i in range(2)}), Remedy(
            "lists in class folders are not read: if each is a series of one "
            "class, make tables of them (needs NumPy), then: forebay init /",
            "series", {"x": (4, 8, 2), "x.lengths": Counter([1, 2, 1, 2]),
                       "label": Counter([0, 0, 1, 1])}),
     ("test", {"label": [0, 0, 1, 1]})),
    ("splits of pictures with blanks in their names", all_of(
        files("images/my cat {}.jpg"), texts({
            "train.txt": "".join(f"my cat {i}.jpg {i % 2}\n" for i in range(3)),
            "val.txt": "my cat 3.jpg 1\n"})), Remedy(
                "train.txt says which pictures in images are of which split: "
                "write a list of each, and run init again:\n(cd /", "",
                {"image": (3, *IMAGE), "label": Counter([0, 1, 0])}),
     ("val", {"label": [1]})),
    ("splits of class folders with blanks in their names", all_of(
        files("my cat/{}.jpg"), files("dog/{}.jpg"), texts({
            "train.txt": "my cat/0.jpg\ndog/0.jpg\ndog/1.jpg\n",
            "test.txt": "dog/2.jpg\nmy cat/2.jpg\n"})), Remedy(
                "test.txt says which pictures in the class folders are of which "
                "split: write a list of each, and run init again:\n(cd /", "",
                {"image": (3, *IMAGE), "label": Counter([0, 0, 1])}),
     ("test", {"label": [0, 1]})),
    ("fastText: texts of one line", texts({
        "train.txt": "__label__a x y\n__label__b z\n",
        "my test.txt": "__label__b w", "val.txt": "__label__a w\n"}), Remedy(
            "my test.txt has texts after their labels: write a list:\n(cd /", "",
            {"label": Counter([0, 1])}), ("test", {"label": [1]}),
     ("val", {"label": [0]})),
    ("libsvm: texts of one line", texts({
        "train.txt": "1 1:2 3:4\n0 1:3\n", "my test.txt": "1 2:2",
        "val.txt": "0 2:2\n"}), Remedy(
            "my test.txt has index:value pairs: write a table (needs NumPy):"
            "\n(cd /", "table", {"label": Counter([0, 1])}),
     ("test", {"label": [1]}), ("val", {"label": [0]})),
    ("libsvm: long lines", texts({"train.txt": "".join(
        f"{y} " + " ".join(f"{i}:0.5" for i in range(1, 1200)) + "\n"
        for y in range(2))}), Remedy(
            "train.txt has index:value pairs: write a table (needs NumPy):"
            "\n(cd /", "table", {"label": Counter([0, 1])})),
    ("series in class folders, and lists beside these", texts({
        f"{name}.csv": "t,a\n1,2\n" for name in ("run/0", "walk/0", "walks")}),
     "make tables of them (needs NumPy), without the lists beside these "
     "folders, then: forebay init /"),
]


class Labels(test_corpus.Corpus):
    rows = ROWS

    def run_wide(self, content, times=1):
        """Run the command of init on such a list, and return what it says."""
        root = self.cluster.path("wide")
        save(root / "train.csv", content)
        said = self.run_one(
            "init", root, "-o", self.cluster.path("p.yaml")).stderr
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        return [subprocess.run(
            COMMAND.search(said)[0].split(" && forebay init ")[0], check=False,
            shell=True, env=dict(os.environ, PATH=path), text=True,
            capture_output=True, timeout=60) for _ in range(times)]

    def test_a_table_that_is_there_is_kept(self):
        made, again = self.run_wide(numbers(), times=2)
        self.assertEqual(made.stdout, "label: Outcome ['0', '1']\n"
                                      "x: 20 columns; left out: nothing\n")
        self.assertEqual(again.returncode, 1)
        self.assertRegex(again.stderr, "^there already: .*/wide/table: ")
        self.assertNotIn("Traceback", again.stderr)

    def test_a_label_that_is_in_doubt_is_asked_for(self):
        rows = ("0", "1", "1", "0")
        said, = self.run_wide("".join(f"{i}{',1,1' * 150},{i}\n" for i in rows))
        self.assertEqual(
            said.stderr, "which column is the label? begin the command with "
            "label = 'c1' or 'c302'\n")


if __name__ == "__main__":
    harness.main()
