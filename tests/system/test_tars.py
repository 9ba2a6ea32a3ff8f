# SPDX-License-Identifier: Apache-2.0
"""`forebay init` and tars, archives and token files as people download them:
each is streamed, or one sentence has the command that makes what is read."""

import os
import subprocess
import sys

import harness
import numpy

from harness import SystemTest
from test_corpus import save

LLMC = """a header of llm.c is no tokens; copy the tokens, which are {}, \
without it: (mkdir tokens && for f in *.bin; do tail -c +1025 "$f" > \
"tokens/$f"; done)"""


class Download(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.cluster.path("data")
        self.root.mkdir()

    def init(self, path, *args):
        return self.run_forebay("init", self.root / path, "--force", "-o",
                                self.cluster.path("made.yaml"), *args)

    def made(self, path="", *args):
        """What init says of the data, of which an epoch can be pulled."""
        made = self.init(path, *args)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.forebay("pull", "-p", self.cluster.path("made.yaml"))
        return made.stderr

    def pipeline(self):
        return self.cluster.path("made.yaml").read_text()

    def refused(self, path="", *args):
        """The cause, without the path that init puts before it."""
        made = self.init(path, *args)
        self.assertEqual(made.returncode, 1, made.stderr)
        said = made.stderr.removeprefix("forebay init: looking at ")
        return said.removeprefix(f"{self.root / path}: ").strip()

    def shell(self, command, cwd=""):
        """Run a command that init printed, in a folder of the data."""
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        subprocess.run(command, shell=True, check=True, cwd=self.root / cwd,
                       env=dict(os.environ, PATH=path))


class Tokens(Download):
    def llmc(self, name, number, magic=20240520, width="u2"):
        head = numpy.zeros(256, "i4")
        head[:3] = magic, 1, number
        ids = numpy.arange(number) % 50257
        save(self.root / name, head.tobytes() + ids.astype(width).tobytes())

    def test_files_of_llm_c_lose_their_header_first(self):
        self.llmc("fineweb_train_000001.bin", 70000)
        self.llmc("fineweb_train_000002.bin", 70000)
        self.llmc("fineweb_val_000000.bin", 2000)
        said = self.refused("", "--tokens", "u16")
        self.assertEqual(
            said, "shard fineweb_train_000001.bin: " + LLMC.format("u16"))
        self.assertEqual(self.refused(), LLMC.format("u16"))
        self.shell(said[said.index("(mkdir"):])
        said = self.made("tokens", "--tokens", "u16")
        self.assertIn("found 136 samples of 1024 tokens in 2 token files", said)
        self.assertIn("and split 'val'", said)
        first = numpy.fromfile(self.root / "tokens/fineweb_val_000000.bin", "u2")
        self.assertEqual(first[:3].tolist(), [0, 1, 2])
        self.llmc("llama/train.bin", 3000, 20240801, "u4")
        self.assertEqual(self.refused("llama"), LLMC.format("u32"))

    def test_plain_tokens_need_their_type(self):
        save(self.root / "train.bin", numpy.arange(90000).astype("u2").tobytes())
        save(self.root / "val.bin", numpy.arange(9000).astype("u2").tobytes())
        save(self.root / "meta.pkl", b"\x80\x04.")
        save(self.root / "prepare.py", "pass\n")
        save(self.root / "input.txt", "a text\n")
        right = ("train.bin may be token ids, without their type: give it, as "
                 "--tokens u16 for ids below 65536 (GPT-2, nanoGPT), or "
                 "--tokens u32")
        self.assertEqual(self.refused(), right)
        self.assertEqual(self.refused("train.bin"), right)
        self.assertIn("found 87 samples of 1024 tokens in 1 token file",
                      self.made("", "--tokens", "u16"))

    def test_numpy_files_of_tokens_become_plain_ones(self):
        for name in ("train", "val"):
            numpy.save(self.root / f"{name}.npy", numpy.arange(70000, dtype="u2"))
        said = self.refused("", "--tokens", "u16")
        self.assertEqual(said, "train.npy is a NumPy file: leave out --tokens "
                         "if its rows are samples; else write plain tokens: "
                         "python3 -c \"import glob, numpy; [numpy.load(f)."
                         "tofile(f[:-3] + 'bin') for f in glob.glob('*.npy')]\"")
        self.assertEqual(self.refused("train.npy", "--tokens", "u16"), said)
        self.shell(said[said.index("python3"):])
        self.assertIn("found 68 samples of 1024 tokens in 1 token file",
                      self.made("", "--tokens", "u16"))
        self.assertIn("and split 'val'", self.made("", "--tokens", "u16"))

    def test_tokens_in_arrow_files_become_plain_ones(self):
        save(self.root / "data-00000-of-00001.arrow", b"x")
        save(self.root / "dataset_info.json", "{}")
        save(self.root / "state.json", "{}")
        self.assertEqual(self.refused(), "Arrow (data-00000-of-00001.arrow) is "
                         "not read yet; write its samples as files into tar "
                         "shards first (0001.jpg, 0001.cls, 0001.json; for "
                         "example with webdataset.ShardWriter); token ids into "
                         ".bin files (numpy's tofile)")


if __name__ == "__main__":
    harness.main()
