#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Add a source and a decoder by the patches in this folder, build, and stream.

The patches are the examples of docs/extending.md. Each touches at most 8 source
files beside the CMakeLists.txt of their folders.
"""
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PATCHES = [HERE / "source.patch", HERE / "decoder.patch"]
MOST_FILES = 8
RECORDS = 64

PIPELINE = """forebay: 1
splits: {train: {example: "records-*.fbyx", shuffle: none}}
global_batch: 16
fields:
  bytes: {from: rec, decode: example, length: 4}
"""


def run(*command, cwd=None):
    """The output of a command that must succeed."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True,
        text=True, timeout=900)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout[-3000:]}"
                             f"{done.stderr[-3000:]}")
    return done.stdout


def copy_tree(to):
    for name in run("git", "ls-files", cwd=ROOT).splitlines():
        if not name.startswith("tests/golden/"):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def write_records(folder):
    """Two files of records of 8 hexadecimal digits."""
    digits = [f"{i:02x}{i + 1:02x}{255 - i:02x}00" for i in range(RECORDS)]
    for k in range(2):
        half = "".join(digits[k * RECORDS // 2:(k + 1) * RECORDS // 2])
        (folder / f"records-{k}.fbyx").write_bytes(
            b"FBYX" + struct.pack("<I", 8) + half.encode())
    (folder / "p.yaml").write_text(PIPELINE)


class Extend(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temp = tempfile.TemporaryDirectory(prefix="forebay-extend-")
        cls.tree = pathlib.Path(cls.temp.name) / "tree"
        cls.data = pathlib.Path(cls.temp.name) / "data"
        cls.data.mkdir()
        copy_tree(cls.tree)
        for patch in PATCHES:
            run("git", "apply", patch, cwd=cls.tree)
        run("cmake", "-S", cls.tree, "-B", cls.tree / "build", "-G", "Ninja",
            "-DCMAKE_BUILD_TYPE=Debug", "-DFBY_CUDA=off", "-DFBY_WERROR=ON")
        run("cmake", "--build", cls.tree / "build", "--target", "forebay")
        cls.forebay = cls.tree / "build/forebay"
        write_records(cls.data)

    @classmethod
    def tearDownClass(cls):
        cls.temp.cleanup()

    def test_each_patch_touches_few_files(self):
        for patch in PATCHES:
            files = re.findall(r"^diff --git a/(\S+)", patch.read_text(), re.M)
            sources = [f for f in files if not f.endswith("CMakeLists.txt")]
            self.assertLessEqual(len(sources), MOST_FILES, patch.name)

    def test_the_values_arrive(self):
        import numpy
        out = self.data / "batch.npz"
        run(self.forebay, "show", "--pipeline", self.data / "p.yaml",
            "--step", "3", "-o", out)
        batch = numpy.load(out)
        rows = [[i, i + 1, 255 - i, 0] for i in range(48, 64)]
        self.assertEqual(batch["bytes"].tolist(), rows)

    def test_an_epoch_streams(self):
        text = run(self.forebay, "pull", "--json", "--pipeline",
                   self.data / "p.yaml")
        self.assertIn('"steps": 4', text.replace('":4', '": 4'))

    def test_damage_is_named(self):
        folder = pathlib.Path(self.temp.name) / "damaged"
        folder.mkdir()
        write_records(folder)
        with open(folder / "records-1.fbyx", "ab") as file:
            file.write(b"0")
        done = subprocess.run(
            [self.forebay, "pull", "--pipeline", folder / "p.yaml"],
            capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("records-1.fbyx", done.stderr)
        self.assertIn("whole records", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
