# SPDX-License-Identifier: Apache-2.0
"""Lists of paths and labels, and parallel folders, as several workers see
them."""

import csv
import io
import json
import os
import re
import shutil

import harness
import numpy
from PIL import Image

from harness import SystemTest

SAMPLES, BATCH = 40, 8

FIELDS = f"""\
global_batch: {BATCH}
seed: 5
fields:
  image:
    from: [image.jpg, image.png]
    group: view
    ops: [{{random_crop: {{size: 16}}}}, horizontal_flip]
  mask:
    from: mask.png
    decode: mask8
    group: view
    ops: [{{random_crop: {{size: 16}}}}, horizontal_flip]
"""

OF_LIST = FIELDS + """\
  label: {from: label, decode: label, classes: 10}
  score: {from: score, decode: number, key: ".", wire: f32}
  code: {from: code, decode: bytes, length: 4}
"""


def png(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "png")
    return out.getvalue()


def sample(number):
    """A picture whose red is its mask's id, and green its number."""
    rng = numpy.random.default_rng(number)
    ids = rng.integers(0, 250, (20 + number % 4, 24)).astype("u1")
    image = numpy.stack([ids, numpy.full_like(ids, number), 0 * ids], -1)
    return image, ids


def row(number):
    return {"image": f"pictures, all/{number:03}.png",
            "mask": f"masks/{number % 4}/{number:03}.png",
            "label": number % 10, "score": number / 8, "code": f"{number:04}",
            "unused": "a \"quoted\"\nline"}


class Lists(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.cluster.path("data")
        self.cluster.root = self.root
        for number in range(SAMPLES):
            for name, pixels in zip(("image", "mask"), sample(number)):
                path = self.root / row(number)[name]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(png(pixels))

    def write_csv(self, rows, end="\r\n", name="train.csv"):
        with open(self.root / name, "w", encoding="utf-8-sig",
                  newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator=end)
            writer.writeheader()
            writer.writerows(rows)

    def write_jsonl(self, rows, name="train.jsonl"):
        (self.root / name).write_text(
            "".join(json.dumps(row) + "\n" for row in rows))

    def pipeline(self, source, fields=OF_LIST, name="p.yaml"):
        path = self.cluster.path(name)
        path.write_text(
            f"forebay: 1\nsplits: {{train: {{{source}}}}}\n{fields}")
        return path

    def of_list(self, name="train.csv", root="data:"):
        return self.pipeline(f"list: '{root}{name}', files: [image, mask]")

    def check_pictures(self, arrays):
        red = arrays["image"][..., 0]
        self.assertTrue(numpy.array_equal(red, arrays["mask"][..., 0]))
        return arrays["image"][:, 0, 0, 1].tolist()

    def check_all(self, pipeline):
        seen = []
        for arrays in self.first_batches(pipeline, SAMPLES // BATCH):
            numbers = self.check_pictures(arrays)
            self.assertEqual(arrays["label"].tolist(),
                             [row(n)["label"] for n in numbers])
            self.assertEqual(arrays["score"].tolist(),
                             [row(n)["score"] for n in numbers])
            self.assertEqual([bytes(code).decode() for code in arrays["code"]],
                             [row(n)["code"] for n in numbers])
            seen += numbers
        self.assertEqual(sorted(seen), list(range(SAMPLES)))

    def digests(self, pipeline):
        """The stream of one worker and that of three of a cluster."""
        alone = self.cluster.pull_alone(
            pipeline, "--workers", 1, "--epochs", 2, "--data",
            f"data={self.root}")
        self.cluster.start(3)
        three = self.cluster.pull(pipeline, "--epochs", 2)
        return alone.finish()["digest"], three.finish()["digest"]

    def test_rows_of_csv_come_as_numpy_would_read_them(self):
        self.write_csv([row(number) for number in range(SAMPLES)])
        self.check_all(self.of_list())
        self.check_all(self.of_list(root=f"{self.root}/"))

    def test_json_lines_are_the_same_data_as_csv(self):
        self.write_jsonl([row(number) for number in range(SAMPLES)])
        self.check_all(self.of_list("train.jsonl"))

    def test_any_number_of_workers_makes_one_stream(self):
        self.write_csv([row(number) for number in range(SAMPLES)], "\n")
        alone, three = self.digests(self.of_list())
        self.assertEqual(alone, three)

    def test_what_a_row_says_and_how_large_its_files_are_is_the_data(self):
        def digest():
            told = self.run_forebay("index", "-p", self.of_list(), "-d",
                                    f"data={self.root}")
            self.assertEqual(told.returncode, 0, told.stderr)
            return re.search(r"\b[0-9a-f]{64}\b", told.stdout).group()

        rows = [row(number) for number in range(SAMPLES)]
        self.write_csv(rows)
        first = digest()
        self.assertEqual(first, digest())
        rows[3]["label"] = 7
        self.write_csv(rows)
        second = digest()
        self.assertNotEqual(first, second)
        path = self.root / rows[5]["mask"]
        path.write_bytes(path.read_bytes() + b"\n")
        self.assertNotEqual(second, digest())

    def refused(self, words, text, name="train.csv"):
        (self.root / name).write_bytes(text)
        for command in "index", "lint":
            told = self.run_forebay(command, "-p", self.of_list(name), "-d",
                                    f"data={self.root}")
            self.assertNotEqual(told.returncode, 0)
            self.assertIn(words, told.stderr)

    def test_hostile_lists_are_refused_with_file_and_line(self):
        first = row(0)["image"].encode()
        self.refused("train.csv: line 2: a quote that is not closed",
                     b'image,mask\n"a,b\n' + b"x" * 99)
        self.refused("train.csv: line 2: a row of more than 1 MiB",
                     b'image,mask\n"' + b"x" * 10_000_000)
        self.refused("line 1: column 'Mask' is there twice",
                     b"image,mask,Mask\n1,2,3\n")
        self.refused("line 3, column image: a path outside the list's",
                     b'image,mask\n"' + first + b'",masks/0/000.png\n'
                     b"../../etc/passwd,x\n")
        self.refused("train.csv, line 2", b"image,mask\nnot/there.png,x.png\n")
        os.symlink("/etc/hostname", self.root / "out.png")
        self.refused("train.csv, line 2", b"image,mask\nout.png,out.png\n")
        self.refused("train.jsonl: line 2: JSON",
                     b'{"image": "a"}\n{"image": ', "train.jsonl")
        self.refused("no row has a path in the column 'mask'",
                     b'{"image": "out.png"}\n', "train.jsonl")

    def test_what_a_field_asks_of_a_row_in_vain_is_said_with_what_it_has(self):
        self.write_csv([dict(row(number), note="7" if number else "")
                        for number in range(SAMPLES)])
        path = self.of_list()
        good = path.read_text()
        for wrong, right, words in (
                ("from: label", "from: lable",
                 ("train.csv: field label: no row has a value in a column "
                  "lable; did you mean 'label'?; columns: image.png, mask.png, "
                  "label, score, code, unused",)),
                ("from: label", "from: note",
                 ("the row has no value in column note",
                  "line 2, sample 0 (columns: image.png, mask.png, label")),
                ('decode: number, key: "."', "decode: number",
                 ("a single value", 'write key: "." to read it'))):
            path.write_text(good.replace(wrong, right))
            pull = self.cluster.pull_alone(
                path, "--data", f"data={self.root}", "--workers", 1)
            pull.finish(code=1)
            for word in words:
                self.assertIn(word, pull.error)

    def test_a_file_that_changes_is_never_delivered(self):
        self.write_csv([row(number) for number in range(SAMPLES)])
        pull = self.cluster.pull_alone(
            self.of_list(), "--data", f"data={self.root}", "--workers", 1,
            "--epochs", 400, watched=True)
        pull.steps(2)
        for number in range(SAMPLES):
            (self.root / row(number)["mask"]).write_bytes(b"other bytes")
        pull.finish(code=None)
        self.assertIn("was cut short", pull.error)

    def planned(self, pipeline, code=0):
        told = self.run_forebay(
            "plan", "-p", pipeline, "-d", f"data={self.root}")
        self.assertEqual(told.returncode, code, told.stderr)
        return told.stdout + told.stderr

    def test_plan_names_lines_and_refuses_columns_that_are_not_there(self):
        rows = [row(n) for n in range(SAMPLES)]
        rows[3]["score"] = ""
        self.write_csv(rows)
        shown = self.planned(self.of_list())
        self.assertRegex(shown, r"(?m)^row 0  sample (\d+)  line \d+$")
        source = "list: 'data:train.csv', files: [image, mask]"
        for right, wrong, words in (
                ("from: label", "from: lable", "field label: no row has a value in a column lable; did you mean 'label'?; columns: "
                 "image.png, mask.png, label, score, code, unused"),
                ("[image.jpg, image.png]", "[image.jpg, image.jpeg]",
                 "a column image.jpg; did you mean 'image.png'?")):
            pipeline = self.pipeline(source, OF_LIST.replace(right, wrong))
            self.assertIn(words, self.planned(pipeline, code=1))

    def parallel(self):
        for number in range(SAMPLES):
            for side, pixels in zip(("image", "mask"), sample(number)):
                path = self.root / "p" / side / f"c{number % 3}/{number:03}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(png(pixels))
        return self.pipeline("parallel: 'data:p/{image,mask}'", FIELDS)

    def test_parallel_folders_are_paired_by_their_names(self):
        pipeline, seen = self.parallel(), []
        for arrays in self.first_batches(pipeline, SAMPLES // BATCH):
            seen += self.check_pictures(arrays)
        self.assertEqual(sorted(seen), list(range(SAMPLES)))
        alone, three = self.digests(pipeline)
        self.assertEqual(alone, three)
        for command in "lint", "plan":
            told = self.run_forebay(command, "-p", pipeline, "-d",
                                    f"data={self.root}")
            self.assertEqual(told.returncode, 0, told.stderr)

    def test_a_file_that_one_folder_lacks_is_named(self):
        pipeline = self.parallel()
        for number in 3, 4, 9, 11:
            (self.root / f"p/mask/c{number % 3}/{number:03}.png").unlink()
        told = self.run_forebay("index", "-p", pipeline, "-d",
                                f"data={self.root}")
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("4 files missing: c0/003.* in mask, c0/009.* in mask, "
                      "c1/004.* in mask, ...", told.stderr)


OF_CLASSES = """\
forebay: 1
splits:
  train: {{folder: train, shuffle: none, last: short}}
  val: {{folder: val, shuffle: none, last: short{key}}}
global_batch: 8
fields: {{label: {{from: folder, classes: {classes}}}}}
"""


class ClassFolders(SystemTest):
    """Class folders of val that are not those of train."""

    def folders(self, **classes):
        for split, names in classes.items():
            for name in names:
                path = self.cluster.path(split) / name
                path.mkdir(parents=True)
                (path / "1.jpg").write_text("x")

    def pipeline(self, key="", classes=3, zipped=()):
        path = self.cluster.path("p.yaml")
        text = OF_CLASSES.format(key=key, classes=classes)
        for split in zipped:
            text = text.replace(f"folder: {split}", f"folder: {split}.zip")
        path.write_text(text)
        return path

    def labels(self, pipeline):
        return self.batch(pipeline, 0, "--split", "val")["label"].tolist()

    def refused(self, command, pipeline, *args):
        done = self.run_forebay(command, "-p", pipeline, "--split", "val",
                                *args)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_an_id_is_the_same_class_in_every_split(self):
        self.folders(train="abc", val="bc")
        pipeline = self.pipeline()
        self.assertEqual(self.labels(pipeline), [1, 2])
        self.assertEqual(self.labels(self.pipeline(", classes_from: train")),
                         [1, 2])
        self.assertEqual(self.labels(self.pipeline(", classes_from: val")),
                         [0, 1])
        for split in "train", "val":
            shutil.make_archive(self.cluster.path(split), "zip",
                                self.cluster.path(split))
        for zipped in ("train",), ("val",), ("train", "val"):
            self.assertEqual(self.labels(self.pipeline(zipped=zipped)),
                             [1, 2])
        told = self.refused("pull", self.pipeline(classes=2))
        self.assertIn("classes is 2, and there are 3 class folders", told)
        pipeline = self.pipeline(classes=9)
        token = json.loads(self.forebay("pull", "-p", pipeline, "--split",
                                        "val", "--json"))["token"]
        self.folders(train="d")
        told = self.refused("pull", pipeline, "--epochs", 2, "--resume",
                            token)
        self.assertIn("2 samples in 1 shard now; first difference: the class "
                      "folders of the split that numbers the classes", told)

    def test_a_class_that_train_lacks_is_refused_by_name(self):
        self.folders(train="abc", val="bz")
        pipeline = self.pipeline()
        sentence = (f"the class folder 'z' of {self.cluster.path('val')} is "
                    f"not in {self.cluster.path('train')}, which numbers the "
                    "classes: remove or rename it, add it there, list "
                    "all classes in `names` of the label, or say "
                    "`classes_from: SPLIT`")
        for command in "pull", "plan", "lint":
            told = self.refused(command, pipeline)
            self.assertIn(sentence, told)
            last = told.splitlines()[-1]
            self.assertEqual(last.count("class folder"), 1)
        self.assertEqual(self.labels(self.pipeline(", classes_from: val")),
                         [0, 1])

    def test_an_error_at_open_is_printed_once(self):
        self.folders(train="abc", val="bz")
        del self.cluster.env["FOREBAY_LOG"]
        told = self.refused("pull", self.pipeline())
        self.assertRegex(told, r"^forebay pull: .*the class folder 'z' .*\n$")

    def test_names_of_a_label_number_class_folders(self):
        self.folders(train="abc", val="bz")
        pipeline = self.pipeline(classes="9, names: [z, c, b, a]")
        self.assertEqual(self.labels(pipeline), [2, 0])
        told = self.refused(
            "pull", self.pipeline(classes="9, names: [a, b, c]"))
        self.assertIn("class 'z' is not in names of field label: add it to "
                      "names or correct the data", told)

    def test_workers_without_the_training_set_say_the_way_out(self):
        self.folders(train="abc", val="bc")
        text = OF_CLASSES.format(key="", classes=3)
        pipeline = self.cluster.path("p.yaml")
        pipeline.write_text(text.replace("folder: ", "folder: data:"))
        (self.cluster.path("only")).mkdir()
        self.cluster.path("val").rename(self.cluster.path("only/val"))
        told = self.refused("pull", pipeline, "--data",
                            f"data={self.cluster.path('only')}")
        self.assertIn("data:train numbers the classes, but cannot be listed: ",
                      told)
        self.assertIn("let this worker serve it, or say `classes_from: SPLIT`",
                      told)


if __name__ == "__main__":
    harness.main()
