# SPDX-License-Identifier: Apache-2.0
"""`forebay init`: the pipeline that it writes for each kind of data passes lint
and plan, and can be pulled."""

import csv
import fcntl
import json
import os
import re
import subprocess
import tempfile
import unittest

import harness
import numpy
from PIL import Image

from harness import FOREBAY, SystemTest
from test_sparse_columns import WIDTH, Table, members
from test_tokens import write_flat, write_mds, write_megatron

SAMPLES = 70


def picture(number, colours=True):
    """Its pixels, in the order of the picture, tell its number."""
    shape = (40 + number % 5, 48, 3) if colours else (40 + number % 5, 48)
    return Image.fromarray(
        numpy.full(shape, number, "u1"), "RGB" if colours else "L")


def mask(number):
    """A mask of picture(2 * number)."""
    size = picture(2 * number).size
    return Image.new("L", size, number)


class Init(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.cluster.path("data")
        self.root.mkdir()

    def save(self, image, name):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(path)
        return name

    def made(self, *args, data=None):
        """The pipeline of the data; lint and plan accept it, and an epoch of
        it can be pulled."""
        path = self.cluster.path("made.yaml")
        made = self.run_forebay(
            "init", data or self.root, "--force", "-o", path, *args)
        self.assertEqual(made.returncode, 0, made.stderr)
        for command in (("lint",), ("plan",), ("pull", "--json")):
            got = self.run_forebay(*command, "-p", path)
            self.assertEqual(got.returncode, 0, got.stderr)
        self.pulled = json.loads(got.stdout)
        self.said = made.stderr
        return path

    def refused(self, *args, data=None):
        made = self.run_forebay("init", data or self.root, *args)
        self.assertEqual(made.returncode, 1, made.stdout)
        return made.stderr

    def check_masks(self, batch, image, mask):
        """Both are the same sample's: a level each, and the mask's is half."""
        scale = numpy.float32([0.229 * 255]), numpy.float32([0.485 * 255])
        levels = numpy.round(batch[image][:, 0, 0, 0] * scale[0] + scale[1])
        self.assertTrue(numpy.array_equal(
            batch[mask][:, 0, 0, 0], levels.astype("u1") // 2))

    def test_a_list_gives_pictures_masks_labels_numbers_and_texts(self):
        rows = []
        for i in range(SAMPLES):
            rows.append({
                "photo": self.save(picture(2 * i), f"p/{i}.png"),
                "mask": self.save(mask(i), f"m/{i}.png"),
                "breed": i % 7, "weight": i / 4 - 3,
                "words": f"nº {i}, \"so\"", "note": "" if i % 2 else "x"})
        with open(self.root / "train.csv", "w", encoding="utf-8",
                  newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        (self.root / "val.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows[:9]))
        pipeline = self.made()
        self.assertIn("found 70 samples in a list", self.said)
        self.assertIn("and split 'val'", self.said)
        self.assertIn('column "note"', pipeline.read_text())
        batch = self.batch(pipeline)
        self.check_masks(batch, "photo", "mask")
        for row, number in enumerate(batch["samples"]):
            self.assertEqual(batch["breed"][row], number % 7)
            self.assertEqual(batch["weight"][row], number / 4 - 3)
            size = batch["words.lengths"][row]
            self.assertEqual(bytes(batch["words"][row][:size]).decode(),
                             rows[number]["words"])
        pipeline = self.made(data=self.root / "val.jsonl")
        self.assertEqual(self.pulled["images"], 9)

    def test_a_list_of_values_alone_needs_no_picture(self):
        (self.root / "rows.csv").write_text(
            "id,price\n" + "".join(f"{i},{i / 2}\n" for i in range(SAMPLES)))
        batch = self.batch(self.made())
        self.assertTrue(numpy.array_equal(batch["price"] * 2, batch["id"]))
        (self.root / "sums.csv").write_text("id,price\n1,2\n")
        self.assertIn(f"forebay init {self.root}/rows.csv", self.refused())
        (self.root / "rows.csv").rename(self.root / "train.csv")
        self.made()
        self.assertIn(f"left out: split 'sums' at {self.root}/sums.csv",
                      self.said)

    def test_lists_of_json_are_fields_and_objects_say_how_to_reach_them(self):
        rows = [{"captions": [f"one {i}", f"another {i}"],
                 "box": list(range(i % 5)), "meta": {"score": i / 2}}
                for i in range(SAMPLES)]
        data = self.root / "rows.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        pipeline = self.made(data=data)
        path = "{from: meta, decode: number, key: score}"
        self.assertIn(f"#   score: {path}\n", pipeline.read_text())
        pipeline.write_text(pipeline.read_text() + f"  score: {path}\n")
        batch = self.batch(pipeline)
        for row, number in enumerate(batch["samples"]):
            size = batch["captions.lengths"][row]
            self.assertIn(bytes(batch["captions"][row][:size]).decode(),
                          rows[number]["captions"])
            size = batch["box.lengths"][row]
            self.assertEqual(list(batch["box"][row][:size]),
                             rows[number]["box"])
            self.assertEqual(batch["score"][row], number / 2)

    def test_columns_that_are_left_out_are_said_with_the_reason(self):
        (self.root / "rows.csv").write_text(
            "id,my age,age,None,2nd,valid\n" +
            "".join(f"{i},1,{i or ''},,3,1\n" for i in range(SAMPLES)))
        pipeline = self.made()
        name = "no field can have this name: rename it, as in"
        note, *lines = self.said.splitlines()[1:-1]
        self.assertIn("note: to write other names of columns: (cd /", note)
        self.assertEqual(lines, [
            f'left out: column "2nd": {name} c_2nd',
            f'left out: column "valid": {name} c_valid',
            'left out: column "age": it has no value in 1 row of 70 (the '
            'first is row 1): write one into each',
            f'left out: column "my age": {name} my_age',
            'left out: column "None": it has no value in 70 rows of 70: write '
            'one into each'])
        for line in lines:
            self.assertIn(f"  # {line}\n", pipeline.read_text())
        (self.root / "rows.csv").unlink()
        (self.root / "rows.jsonl").write_text(
            '{"a b": 1, "c": 2}\n{"a b": 1, "c": 3}\n')
        self.made()
        self.assertIn(f'left out: column "a b": {name} a_b\n', self.said)

    def test_gaps_get_the_mean_if_the_command_says_so(self):
        (self.root / "rows.csv").write_text(
            "n,x,text,z\n1,0.5,a,0.0\n,3%,b,1.0\n4,,\"c, d\",\n5,1.5,e,4.0\n")
        self.made()
        command = self.said[self.said.index("(cd /"):].split(" && forebay init ")[0]
        self.assertIn("how = 'drop'", command)
        subprocess.run(command.replace("how = 'drop'", "how = 'mean'"),
                       shell=True, check=True)
        self.assertEqual(
            (self.root / "filled-rows.csv").read_text().splitlines(),
            ["n,x,text,z", "1,0.5,a,0", "3,0.03,b,1",
             f'4,{(0.5 + 0.03 + 1.5) / 3},"c, d",{5 / 3}', "5,1.5,e,4"])
        self.made()
        self.assertIn("filled-rows.csv is read in place of rows.csv", self.said)

    def test_notes_beside_class_folders_are_no_list(self):
        for i in range(8):
            self.save(picture(i), f"class{i % 2}/{i}.png")
        (self.root / "notes.csv").write_text("who,when\nme,now\n")
        pipeline = self.made()
        self.assertIn("folder:", pipeline.read_text())

    def test_parallel_folders_are_paired(self):
        for i in range(SAMPLES):
            for split in ("train", "val"):
                self.save(picture(2 * i), f"images/{split}/{i}.png")
                self.save(mask(i), f"masks/{split}/{i}.png")
        pipeline = self.made()
        self.assertIn("{images,masks}/train\"", pipeline.read_text())
        self.assertIn("and split 'val'", self.said)
        self.check_masks(self.batch(pipeline), "images", "masks")
        (self.root / "masks/train/3.png").unlink()
        self.assertIn("1 file missing: 3.* in masks/train", self.refused())

    def test_of_grey_pictures_the_name_says_which_is_the_mask(self):
        for i in range(8):
            self.save(picture(i, colours=False), f"img/{i}.png")
            self.save(picture(i, colours=False), f"annotations/{i}.png")
        text = self.made().read_text()
        self.assertIn("  img:\n    from: img.png\n    decode: rgb8", text)
        self.assertIn("  annotations:\n    from: annotations.png\n"
                      "    decode: mask8", text)

    def test_masks_in_folders_and_shards_follow_their_picture(self):
        for i in range(SAMPLES):
            self.save(picture(2 * i), f"c/{i:03}.jpg")
            self.save(mask(i), f"c/{i:03}.mask.png")
        pipeline = self.made()
        self.assertIn("from: mask.png\n", pipeline.read_text())
        self.assertEqual(self.batch(pipeline)["mask"].shape[1:],
                         (224, 224, 1))
        shard = self.cluster.path("tars")
        shard.mkdir()
        subprocess.run(["tar", "--sort=name", "-cf", shard / "x.tar", "-C",
                        self.root / "c", "."], check=True)
        for data in (shard, shard / "x.tar"):
            self.assertIn("from: mask.png\n",
                          self.made(data=data).read_text())

    def save_matrix(self, name, table, savez=numpy.savez):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        savez(path, **members(*table.matrix))

    def check_words(self, tables, pipeline):
        rows = [row for table in tables for row in table.rows()]
        batch = self.batch(pipeline)
        self.assertEqual(len(batch["samples"]), len(rows))
        for row, number in zip(batch["words"], batch["samples"]):
            right = numpy.zeros(WIDTH, row.dtype)
            right[rows[number][0]] = rows[number][1]
            self.assertTrue(numpy.array_equal(row, right))

    def test_matrices_of_scipy_are_columns_of_their_folder(self):
        tables = [Table(seed, 60 + seed) for seed in (2, 4)]
        self.save_matrix("words.npz", tables[0])
        (self.root / "README").write_text("A matrix.")
        self.check_words(tables[:1], self.made())
        self.assertIn("62 samples in 1 table", self.said)
        numpy.savez(self.root / "more.npz", ids=numpy.arange(62))
        self.save_matrix("xwords.npz", tables[0])
        self.assertIn(" words.npz is a matrix of scipy.sparse.save_npz",
                      self.refused())
        (self.root / "more.npz").unlink()
        (self.root / "xwords.npz").unlink()
        self.save_matrix("words.npz", tables[0], numpy.savez_compressed)
        self.assertIn("words.npz: format.npy: it is compressed",
                      self.refused())
        (self.root / "words.npz").unlink()
        for i, table in enumerate(tables):
            self.save_matrix(f"day-{i}/words.npz", table)
        pipeline = self.made()
        self.assertIn(f'columns: "{self.root}/*"', pipeline.read_text())
        self.check_words(tables, pipeline)

    def test_matrices_beside_pictures_are_members_of_samples(self):
        for i in range(8):
            self.save(picture(i), f"class{i % 2}/{i}.png")
            self.save_matrix(f"class{i % 2}/{i}.npz", Table(i, 1))
        self.assertIn("folder:", self.made().read_text())

    @unittest.skipUnless(os.getuid() == 0, "needs another user")
    def test_a_folder_that_may_not_be_opened_is_named(self):
        for name in ("cat", "dog"):
            (self.root / name).mkdir()
            Image.new("RGB", (8, 8)).save(self.root / name / "1.jpg")
        for path in (self.cluster.dir, *self.cluster.dir.rglob("*")):
            path.chmod(0o777)
        (self.root / "lost+found").mkdir(mode=0o700)
        args = {"check": False, "capture_output": True, "text": True,
                "user": 65534, "group": 65534, "env": self.cluster.env}
        made = subprocess.run([FOREBAY, "init", self.root], **args)
        self.assertIn("found 2 samples in 2 class folders", made.stderr)
        (self.root / "dog").chmod(0o700)
        made = subprocess.run([FOREBAY, "init", self.root], **args)
        self.assertIn("cannot open dog: Permission denied", made.stderr)

    def test_stray_files_beside_pictures_are_no_samples(self):
        for i in range(SAMPLES):
            self.save(picture(i), f"class{i % 2}/{i}.png")
        for name in ("class0/Thumbs.db", "class0/desktop.ini", "README.md",
                     "class1/.DS_Store", "class1/notes.txt",
                     "class0/a.gif", "class1/b.gif"):
            (self.root / name).write_text("not a picture")
        self.made()
        self.assertEqual(self.pulled["images"], 64)
        self.assertIn(f"found {SAMPLES} samples in 2 class folders", self.said)
        self.assertIn("left out: 2 .gif files, 1 .txt file", self.said)

    def test_only_a_pipeline_file_is_overwritten(self):
        self.save(picture(1), "a/1.png")
        for path in (self.root / "a/1.png", self.root / "notes.txt"):
            if not path.exists():
                path.write_text("mine")
            before = path.read_bytes()
            done = self.run_forebay(
                "init", self.root, "--force", "-o", path)
            self.assertIn(
                f"{path} is no pipeline file, so --force does not overwrite "
                "it; write to another file", done.stderr)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(path.read_bytes(), before)

    def memory_for(self, number):
        """The memory in MiB that init needs for a flat folder of so many
        pictures, each with a text. Without a terminal it shows no progress."""
        folder = self.root / f"{number}"
        folder.mkdir()
        for i in range(number):
            for extension in ("jpg", "txt"):
                os.close(os.open(f"{folder}/{i}.{extension}",
                                 os.O_CREAT | os.O_WRONLY, 0o644))
        said, end = os.pipe()
        size = fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096)
        os.write(end, b"x" * size)  # so init waits before its next line
        with subprocess.Popen([harness.FOREBAY, "init", folder], stderr=end,
                              stdout=subprocess.PIPE) as process:
            os.close(end)
            self.assertTrue(process.stdout.read(1))  # all is looked at
            peak = harness.memory_bytes(process.pid, "VmHWM") / 2 ** 20
            self.assertEqual(len(os.read(said, size)), size)
            with open(said) as said:
                self.assertEqual(
                    said.read().partition("left out")[0],
                    f"found {number} samples in a folder without classes\n")
        self.assertEqual(process.returncode, 0)
        return peak

    @unittest.skipIf(harness.SLOW > 1, "a sanitizer uses memory of its own")
    def test_memory_hardly_depends_on_the_number_of_pictures(self):
        self.assertLess(self.memory_for(10000) - self.memory_for(50), 3)

    def test_links_lead_beneath_roots_that_init_proposes(self):
        pool = self.cluster.path("pool")
        for i in range(SAMPLES):
            self.save(picture(i), f"../pool/class{i % 2}/{i}.png")
        (self.root / "a").symlink_to(pool / "class0")
        (self.root / "b").mkdir()
        for path in (pool / "class1").iterdir():
            (self.root / "b" / path.name).symlink_to(path)
        (self.root / "b" / "gone.png").symlink_to("nowhere.png")
        path = self.cluster.path("links.yaml")
        made = self.run_forebay("init", self.root, "-o", path)
        self.assertIn(f"found {SAMPLES} samples in 2 class folders",
                      made.stderr)
        self.assertIn("left out: 1 link to no file", made.stderr)
        option = f"--data links0={pool}"
        argument = f'data={{"links0": "{pool}"}}'
        self.assertEqual(made.stderr.splitlines()[-2:], [
            f"wrote {path}; try: forebay pull --pipeline {path} {option}",
            f"the same in Python: forebay.Loader(..., {argument})"])
        self.assertIn(f'--data "links0={pool}"\n# In Python: forebay.Loader('
                      f'"THIS-FILE", {argument})\n', path.read_text())
        pulled = self.run_forebay("pull", "-p", path, *option.split())
        self.assertEqual(pulled.returncode, 0, pulled.stderr)
        self.assertIn("LINKS-DANGLING skipped 1 link in", pulled.stderr)
        pulled = self.run_forebay("pull", "-p", path)
        self.assertEqual(pulled.returncode, 1)
        self.assertIn(f"start workers with --data links0={pool}",
                      pulled.stderr.splitlines()[-1])

    def test_a_list_far_from_its_files_needs_the_root_of_all(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            for i in range(2):
                picture(i).save(f"{folder}/{i}.png")
            (self.root / "t.csv").write_text(
                f"file,y\n{folder}/0.png,0\n{folder}/1.png,1\n")
            path = self.cluster.path("far.yaml")
            made = self.run_forebay("init", self.root / "t.csv", "-o", path)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual(made.stderr.splitlines()[1:], [
                "note: the list and its files have only / in common, so with "
                "the root / workers can read all files that you can",
                f"wrote {path}; try: forebay pull --pipeline {path} --data "
                "data=/",
                'the same in Python: forebay.Loader(..., data={"data": "/"})'])
            pulled = self.run_forebay("pull", "-p", path, "--data", "data=/")
            self.assertEqual(pulled.returncode, 0, pulled.stderr)

    def test_links_beside_a_list_do_not_matter(self):
        (self.root / "t.csv").write_text(
            "id\n" + "".join(f"{i}\n" for i in range(SAMPLES)))
        (self.root / "gone").symlink_to("nowhere")
        (self.root / "loop").symlink_to("loop")
        (self.root / "away").symlink_to("/etc")
        self.made(data=self.root / "t.csv")

    def test_links_beside_a_list_of_pictures_need_no_root(self):
        self.save(picture(0), "p/0.png")
        (self.root / "t.csv").write_text("image,id\np/0.png,1\n")
        (self.root / "away").symlink_to("/etc")
        self.made()
        self.assertNotIn("--data", self.said)

    def test_links_beside_parallel_folders_do_not_matter(self):
        for i in range(8):
            self.save(picture(2 * i), f"images/{i}.png")
            self.save(mask(i), f"masks/{i}.png")
        (self.root / "away").symlink_to("/etc")
        self.made()
        self.assertNotIn("--data", self.said)

    def test_pictures_without_class_folders_have_no_label(self):
        for i in range(SAMPLES):
            self.save(picture(i), f"{i}.png")
        text = self.made().read_text()
        self.assertIn("class_depth: 0", text)
        self.assertNotIn("label", text)
        self.assertIn("70 samples in a folder without classes", self.said)

    def test_a_folder_too_high_is_not_one_class(self):
        for i in range(SAMPLES):
            self.save(picture(i), f"photos/{'ab'[i % 2]}/{i}.png")
        said = self.refused()
        self.assertIn("the only folder, photos, holds no pictures but folders "
                      "(a, b)", said)
        text = self.made("--class-depth", "2").read_text()
        self.assertIn("class_depth: 2", text)
        self.assertIn("classes: 2", text)
        self.made(data=self.root / "photos")
        self.assertIn("classes: 1", self.made("-c", "1").read_text())
        (self.root / "photos").rename(self.root / "Training")
        self.save(picture(1), "Val/a/1.png")
        self.made()
        self.assertIn("in 2 class folders", self.said)
        self.assertIn("and split 'val' at ", self.said)
        self.save(picture(1), "Val/c/1.png")
        self.made()
        self.assertIn("left out: split 'val' at ", self.said)
        self.assertIn("it has the class folder 'c', which train lacks",
                      self.said)

    def documents(self):
        rng = numpy.random.default_rng(3)
        return [rng.integers(0, 50000, 700) for _ in range(100)]

    def check_tokens(self, pipeline, dtype="<u2"):
        """Inputs and targets are those of the text, in 1,024 or less."""
        text = numpy.concatenate(self.documents()).astype(dtype)
        batch = self.batch(pipeline)
        length = batch["tokens"].shape[1]
        for row, number in enumerate(batch["samples"]):
            begin = int(number) * length
            self.assertTrue(numpy.array_equal(
                batch["tokens"][row], text[begin:begin + length]))
            self.assertTrue(numpy.array_equal(
                batch["labels"][row], text[begin + 1:begin + length + 1]))
        return length

    def test_shards_of_mosaicml_say_what_they_are(self):
        documents = [array.astype("<u2") for array in self.documents()]
        write_mds(self.root / "shard.00000.mds", documents, "ndarray:uint16")
        (self.root / "index.json").write_text("{}")
        self.assertEqual(self.check_tokens(self.made()), 1024)
        write_mds(self.root / "shard.00000.mds", documents)
        self.assertIn("--tokens", self.refused())
        self.check_tokens(self.made("--tokens", "u16"))

    def test_indexed_files_of_megatron_say_what_they_are(self):
        documents = self.documents()
        write_megatron(self.root / "a_text.bin", documents, "i4")
        write_megatron(self.root / "a_val.bin", documents[:3], "i4")
        self.check_tokens(self.made())
        self.assertIn("and split 'val'", self.said)

    def test_flat_files_need_their_type(self):
        text = numpy.concatenate(self.documents())
        write_flat(self.root / "train-0.bin", text)
        write_flat(self.root / "train-1.bin", text[:500])
        write_flat(self.root / "val.bin", text[:500])
        self.assertIn("give it, as --tokens u16", self.refused())
        pipeline = self.made("--tokens", "u16")
        self.assertIn("/train-*.bin\"", pipeline.read_text())
        self.check_tokens(pipeline)
        self.assertEqual(
            self.check_tokens(self.made(
                "--tokens", "u16", data=self.root / "val.bin")), 16)
        (self.root / "val.bin").write_bytes(b"x" * 20)
        self.assertIn("too short for one sequence of 16 tokens", self.refused(
            "--tokens", "u16", data=self.root / "val.bin"))

    def test_the_splits_of_tokens_have_one_length(self):
        ids = numpy.arange(90000) % 50000
        write_flat(self.root / "train.bin", ids)
        write_flat(self.root / "val.bin", ids[:9000])
        pipeline = self.made("--tokens", "u16")
        self.assertEqual(re.findall(r"length: (\d+)", pipeline.read_text()),
                         ["1024", "1024"])
        self.assertEqual(self.batch(
            pipeline, 0, "--split", "val")["tokens"].shape[1], 1024)
        write_flat(self.root / "val.bin", ids[:900])
        self.made("--tokens", "u16")
        self.assertIn(
            "note: length is 16 for split val, which is too short for the 1024 "
            "of train: change it in the file to have one for all\n", self.said)

    def test_a_text_larger_than_a_buffer_is_not_lost_on_a_full_disk(self):
        table = self.root / "table"
        table.mkdir()
        for i in range(32):
            numpy.save(table / f"column_{i:050}.npy", numpy.zeros(5))
        self.assertGreater(len(self.forebay("init", self.root)), 4096)
        with open("/dev/full", "wb") as full:
            shown = subprocess.run(
                [harness.FOREBAY, "init", self.root], stdout=full, check=False,
                stderr=subprocess.PIPE, text=True, env=self.cluster.env,
                timeout=120 * harness.SLOW)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("standard output: No space left", shown.stderr)
        self.assertNotIn("found", shown.stderr)


if __name__ == "__main__":
    harness.main()
