# SPDX-License-Identifier: Apache-2.0
"""`forebay show`: it writes what a consumer gets, in readable files."""

import contextlib
import glob
import json
import os
import pathlib
import resource
import signal
import subprocess
import time
import zipfile

import harness
import numpy
from PIL import Image

from harness import FOREBAY, PIPELINE, SystemTest

# As in cli/show/sheet.h and cli/show/font.h.
MARGIN, GAP, INNER, LINE, ADVANCE = 8, 12, 4, 11, 6
CELL, SHEET = 198, 1600
TOP = 2 * MARGIN + LINE

# The test's own digits for reading, 5 x 7, from the top.
DIGITS = {digit: numpy.array([[int(c) for c in f"{row:05b}"] for row in rows])
          for digit, rows in {
    "0": (14, 17, 19, 21, 25, 17, 14), "1": (4, 12, 4, 4, 4, 4, 14),
    "2": (14, 17, 1, 2, 4, 8, 31), "3": (31, 2, 4, 2, 1, 17, 14),
    "4": (2, 6, 10, 18, 31, 2, 2), "5": (31, 16, 30, 1, 1, 17, 14),
    "6": (6, 8, 16, 30, 17, 17, 14), "7": (31, 1, 2, 4, 8, 8, 8),
    "8": (14, 17, 17, 14, 17, 17, 14), "9": (14, 17, 17, 15, 1, 2, 12),
    " ": (0,) * 7}.items()}

MEAN = numpy.array([0.485, 0.456, 0.406])
STD = numpy.array([0.229, 0.224, 0.225])


def read_number(sheet, x, y):
    """The digits that begin at (x, y), up to the first that is none."""
    text = ""
    while True:
        drawn = (sheet[y:y + 7, x:x + 5, 0] == 0).astype(int)
        digit = [d for d, rows in DIGITS.items() if (rows == drawn).all()]
        if not digit or digit == [" "]:
            return int(text)
        text += digit[0]
        x += ADVANCE


def bytes_written(path):
    """Into the file that will be renamed to path; 0 if it is not there."""
    with contextlib.suppress(FileNotFoundError):
        return sum(part.stat().st_size
                   for part in path.parent.glob(f"{path.name}.*.part"))
    return 0


class Show(SystemTest):
    def show(self, pipeline, name, *args):
        path = self.cluster.path(name)
        shown = self.run_forebay(
            "show", "--pipeline", pipeline, "-o", path, *args)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn(f"wrote {path}", shown.stdout)
        self.assertEqual(glob.glob(f"{path}.*"), [])
        return path

    def arrays(self, pipeline, *args):
        path = self.show(pipeline, "batch.npz", *args)
        for entry in zipfile.ZipFile(path).infolist():
            self.assertEqual(entry.date_time, (1980, 1, 1, 0, 0, 0))
        with numpy.load(path) as file:
            return {name: file[name] for name in file.files}

    def sheet(self, pipeline, *args):
        picture = Image.open(self.show(pipeline, "batch.png", *args))
        self.assertEqual(picture.mode, "RGB")
        return numpy.asarray(picture)

    def plan(self, pipeline, *args):
        shown = self.run_forebay(
            "plan", "--pipeline", pipeline, "--json", *args)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout)["rows"]

    def pictures(self, old="", new="", **changes):
        self.cluster.photos(number=80)
        text = PIPELINE.replace(old, new) if old else PIPELINE
        self.assertEqual(old != "", text != PIPELINE)
        return self.cluster.pipeline(text, **changes)

    def corners(self, sheet, rows, side=64):
        """Where each row's cell begins, and its text: x, y, y of the text."""
        across = SHEET // (CELL + GAP)
        down = (len(sheet) - TOP - MARGIN + GAP) // -(-rows // across)
        return [(MARGIN + row % across * (CELL + GAP),
                 TOP + row // across * down,
                 TOP + row // across * down + side + INNER)
                for row in range(rows)]

    def test_arrays_are_those_of_the_plan(self):
        pipeline = self.pictures()
        place = ("--epoch", 2, "--step", 3)
        arrays = self.arrays(pipeline, *place)
        self.assertEqual(sorted(arrays), ["image", "label", "samples", "valid"])
        self.assertEqual(arrays["image"].dtype, numpy.float32)
        self.assertEqual(arrays["image"].shape, (16, 3, 64, 64))
        self.assertEqual(arrays["label"].dtype, numpy.int64)
        self.assertTrue(arrays["valid"].all())
        rows = self.plan(pipeline, *place)
        self.assertEqual([row["sample"] for row in rows],
                         arrays["samples"].tolist())
        self.assertEqual([int(row["key"][1:3]) for row in rows],
                         arrays["label"].tolist())

    def test_samples_are_those_that_pull_gets(self):
        pipeline = self.pictures()
        pull = self.cluster.pull_alone(pipeline, "--epochs", 2)
        pull.finish()
        for line in pull.lines:
            epoch, step, _, _, _, *rows = line.split()
            if step != "2":
                continue
            arrays = self.arrays(pipeline, "--epoch", epoch, "--step", step)
            self.assertEqual([row.split(":")[0] for row in rows],
                             [str(n) for n in arrays["samples"]])

    def test_the_sheet_shows_the_pixels_of_the_arrays(self):
        pipeline = self.pictures()
        place = ("--epoch", 1, "--step", 1, "--seed", 5)
        arrays = self.arrays(pipeline, *place)
        pixels = arrays["image"].transpose(0, 2, 3, 1).astype(float)
        pixels = numpy.rint((pixels * STD + MEAN) * 255).astype(numpy.uint8)
        sheet = self.sheet(pipeline, *place)
        for row, (x, y, text) in enumerate(self.corners(sheet, 16)):
            self.assertTrue((sheet[y:y + 64, x:x + 64] == pixels[row]).all())
            self.assertEqual(
                read_number(sheet, x + len("row ") * ADVANCE, text), row)
            after = x + len(f"row {row} sample ") * ADVANCE
            self.assertEqual(
                read_number(sheet, after, text), arrays["samples"][row])
            self.assertEqual(
                read_number(sheet, x + len("label ") * ADVANCE,
                            text + 2 * LINE), arrays["label"][row])

    def test_every_dtype_and_layout_has_the_same_pixels(self):
        plain = self.pictures(
            "    device:\n      - normalize: {{mean: [0.485, 0.456, 0.406], "
            "std: [0.229, 0.224, 0.225]}}\n    out: {{dtype: f32, layout: chw}}"
            "\n", "")
        wanted = self.arrays(plain)["image"]
        self.assertEqual(wanted.dtype, numpy.uint8)
        self.assertEqual(wanted.shape, (16, 64, 64, 3))
        exact = (wanted / 255 - MEAN) / STD
        for dtype, layout, error in (
                ("f32", "hwc", 1e-6), ("f16", "chw", 2e-3),
                ("bf16", "channels_last", 2e-2),
                ("f32", "channels_last", 1e-6)):
            pipeline = self.cluster.pipeline(PIPELINE.replace(
                "dtype: f32, layout: chw", f"dtype: {dtype}, layout: {layout}"))
            values = self.arrays(pipeline)["image"]
            if dtype == "bf16":
                self.assertEqual(values.dtype, numpy.uint16)
                values = (values.astype("u4") << 16).view("f4")
            if layout != "hwc":
                self.assertEqual(values.shape, (16, 3, 64, 64))
                values = values.transpose(0, 2, 3, 1)
            self.assertLess(abs(values - exact).max(), error)

    def test_rows_that_fill_the_last_batch_are_not_valid(self):
        pipeline = self.pictures(last="pad", batch=24)
        arrays = self.arrays(pipeline, "--step", 3)
        self.assertEqual(arrays["valid"].tolist(), [True] * 8 + [False] * 16)
        self.assertEqual(arrays["valid"].dtype, numpy.bool_)

    def test_rows_are_cut_as_asked_for(self):
        pipeline = self.pictures()
        arrays = self.arrays(pipeline, "--rows", 3)
        self.assertEqual({len(a) for a in arrays.values()}, {3})
        sheet = self.sheet(pipeline, "--rows", 2)
        self.assertEqual(sheet.shape[1], 2 * MARGIN + 2 * CELL + GAP)

    def test_numbers_bytes_and_one_hots_are_written_too(self):
        root = self.cluster.photos(number=16, classes=2)
        shard = self.cluster.path("s")
        shard.mkdir()
        for i in range(16):
            (shard / f"{i:02}.json").write_text(json.dumps({"n": -i}))
            (shard / f"{i:02}.bin").write_bytes(bytes(range(i, i + 10)))
            (shard / f"{i:02}.cls").write_text(str(i % 4))
        subprocess.run(["tar", "--sort=name", "-cf", root / "s.tar", "-C",
                        shard, "."], check=True)
        pipeline = self.cluster.pipeline(
            "forebay: 1\nsplits: {{train: {{shards: '{root}/s.tar'}}}}\n"
            "global_batch: 8\nfields:\n"
            "  samples: {{from: json, key: n, wire: i32}}\n"
            "  blob: {{from: bin, length: 10}}\n"
            "  kind: {{from: cls, one_hot: {{classes: 4}}}}\n")
        arrays = self.arrays(pipeline)
        numbers = arrays["samples_"]
        self.assertEqual(arrays["samples"].tolist(),
                         [-int(n) for n in numbers])
        self.assertEqual(arrays["kind"].argmax(1).tolist(),
                         [n % 4 for n in numbers])
        self.assertEqual(arrays["blob"][0].tolist(),
                         list(range(int(numbers[0]), int(numbers[0]) + 10)))
        self.sheet(pipeline)

    def test_masks_are_shown_by_colour_and_written_as_ids(self):
        root = self.cluster.path("masks")
        root.mkdir()
        ids = numpy.arange(64, dtype=numpy.uint8).reshape(8, 8)
        for i in range(8):
            Image.fromarray(ids).save(root / f"{i}.png")
        subprocess.run(["tar", "--sort=name", "-cf", root / "s.tar", "-C",
                        root, *(f"{i}.png" for i in range(8))], check=True)
        self.cluster.root = root
        pipeline = self.cluster.pipeline(
            "forebay: 1\nsplits: {{train: {{shards: '{root}/s.tar'}}}}\n"
            "global_batch: 4\nfields:\n"
            "  mask: {{from: png, decode: mask8, ops: [{{resize: {{size: 8}}}},"
            " vertical_flip]}}\n")
        arrays = self.arrays(pipeline)
        flipped = [bool(mask[0, 0, 0]) for mask in arrays["mask"]]
        for mask, turned in zip(arrays["mask"], flipped):
            wanted = ids[::-1] if turned else ids
            self.assertTrue((mask[..., 0] == wanted).all())
        sheet = self.sheet(pipeline)
        for (x, y, _), mask in zip(self.corners(sheet, 4, 8), arrays["mask"]):
            cell = sheet[y:y + 8, x:x + 8].reshape(64, 3)
            self.assertEqual(len({tuple(pixel) for pixel in cell}), 64)
            black = (cell == 0).all(axis=1).reshape(8, 8)
            self.assertTrue((black == (mask[..., 0] == 0)).all())

    def test_what_is_wrong_is_said_before_anything_is_written(self):
        pipeline = self.pictures()
        nowhere = self.cluster.path("nowhere") / "b.png"
        png = self.cluster.path("b.png")
        for args, code, words in (
                ((), 2, "-o FILE.png"), (("-o", "b.jpg"), 2, ".npz"),
                (("-o", png, "--step", 5), 2, "an epoch has 5 steps"),
                (("-o", png, "--split", "test"), 2, "train"),
                (("-o", png, "--rows", "0"), 2, "--rows"),
                ((png,), 2, "did you mean"),
                (("-o", nowhere), 1, "No such file")):
            shown = self.run_forebay("show", "--pipeline", pipeline, *args)
            self.assertEqual(shown.returncode, code, (args, shown.stderr))
            self.assertIn(words, shown.stderr)
            self.assertFalse(os.path.exists(png))
        folder = self.cluster.path("folder.png")
        folder.mkdir()
        shown = self.run_forebay("show", "-p", pipeline, "-o", folder)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("Is a directory", shown.stderr)

    def test_a_batch_beyond_a_trainer_s_window_can_be_shown(self):
        self.cluster.photos(number=8, classes=1)
        pipeline = self.cluster.pipeline(
            "forebay: 1\nsplits: {{train: {{folder: '{root}'}}}}\n"
            "global_batch: 8\nfields:\n"
            "  image: {{from: jpg, ops: [{{resize: {{size: 3500}}}}]}}\n")
        pull = self.run_forebay("pull", "-p", pipeline)
        self.assertEqual(pull.returncode, 1)
        self.assertIn("--window", pull.stderr)
        path = self.show(pipeline, "large.png", "--rows", 1)
        self.assertGreater(Image.open(path).size[1], 3500)

    def test_an_interrupted_or_killed_one_leaves_no_file(self):
        pipeline = self.pictures()
        path = self.cluster.path("b.png")
        env = dict(self.cluster.env,  # its worker is always BUSY
                   FOREBAY_FAULT="worker.busy:every_request=1")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            shown = subprocess.Popen(
                [FOREBAY, "show", "-p", pipeline, "-o", path],
                stderr=subprocess.PIPE, text=True, env=env)
            children = f"/proc/{shown.pid}/task/{shown.pid}/children"
            with shown:
                while not pathlib.Path(children).read_text(encoding="ascii"):
                    self.assertIsNone(shown.poll())
                shown.send_signal(number)
                said = shown.communicate()[1]
            if number != signal.SIGKILL:
                self.assertIn("ended by signal", said)
                self.assertEqual(shown.returncode, 128 + number)
            self.assertEqual(list(path.parent.glob("b.png*")), [])

    def test_a_signal_ends_the_writing_too(self):
        self.cluster.photos(number=16, classes=1)
        pipeline = self.cluster.pipeline(
            "forebay: 1\nsplits: {{train: {{folder: '{root}'}}}}\n"
            "global_batch: 16\nfields:\n"
            "  image: {{from: jpg, ops: [{{resize: {{size: 1000}}}}]}}\n")
        path = self.cluster.path("b.png")
        for _ in range(10):  # a run may end before the signal reaches it
            said, code, seconds = self.interrupted_while_writing(pipeline, path)
            if code != 0:
                break
            path.unlink()
        self.assertLess(seconds, 0.5 * harness.SLOW)
        self.assertIn("ended by signal", said)
        self.assertEqual(code, 128 + signal.SIGINT)
        self.assertEqual(list(path.parent.glob("b.png*")), [])

    def interrupted_while_writing(self, pipeline, path):
        """Errors, exit code, and seconds from the signal to the end."""
        shown = subprocess.Popen(
            [FOREBAY, "show", "-p", pipeline, "-o", path],
            stderr=subprocess.PIPE, text=True, env=self.cluster.env)
        with shown:
            while shown.poll() is None and not bytes_written(path):
                pass
            shown.send_signal(signal.SIGINT)
            began = time.monotonic()
            said = shown.communicate()[1]
        return said, shown.returncode, time.monotonic() - began

    def test_a_limit_of_file_sizes_is_a_failure(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))

        pipeline = self.pictures()
        for name in ("b.png", "b.npz"):
            path = self.cluster.path(name)
            shown = subprocess.run(
                [FOREBAY, "show", "-p", pipeline, "-o", path], check=False,
                capture_output=True, text=True, env=self.cluster.env,
                preexec_fn=limit, timeout=120 * harness.SLOW)
            self.assertEqual(shown.returncode, 1, name)
            self.assertIn("File too large", shown.stderr)
            self.assertEqual(list(path.parent.glob(f"{name}*")), [])

    def test_a_full_disk_is_a_failure(self):
        pipeline = self.pictures()
        for name in ("full.png", "full.npz"):
            path = self.cluster.path(name)
            path.symlink_to("/dev/full")
            shown = self.run_forebay("show", "-p", pipeline, "-o", path)
            self.assertEqual(shown.returncode, 1, name)
            self.assertIn(name, shown.stderr)
            self.assertIn("No space left", shown.stderr)


if __name__ == "__main__":
    harness.main()
