# SPDX-License-Identifier: Apache-2.0
"""Commands on a terminal: their progress line, and Ctrl-C."""

import json
import os
import pty
import select
import signal
import subprocess
import time

import harness
import numpy
from PIL import Image

from harness import SystemTest

PIPELINE = """
forebay: 1
splits: {{train: {{folder: "{root}", shuffle: none}}}}
global_batch: 1
fields: {{image: {{decode: rgb8, from: [jpg], ops: [{{resize: {{size: 8}}}}]}}}}
"""

LISTS = """
forebay: 1
splits:
{splits}
global_batch: 1
fields: {{image: {{decode: rgb8, from: [image.jpg], ops: [{{resize: {{size: 8}}}}]}}}}
"""


class Terminal:
    """A command whose standard error is a terminal."""

    def __init__(self, cluster, *args):
        self.terminal, end = pty.openpty()
        self.process = subprocess.Popen(
            [harness.FOREBAY, *map(str, args)], stdout=subprocess.PIPE,
            stderr=end, env=cluster.env)
        os.close(end)
        self.text = ""

    def read(self):
        """Read more text. False at the end, when the process has ended."""
        try:
            data = os.read(self.terminal, 4096)
        except OSError:  # EIO: no process has the terminal open
            data = b""
        self.text += data.decode(errors="replace")
        return data != b""

    def wait_for(self, words):
        until = time.monotonic() + harness.DEADLINE
        while words not in self.text:
            if not select.select([self.terminal], [], [], 1)[0]:
                if time.monotonic() < until:
                    continue
            elif self.read():
                continue
            raise AssertionError(f"never said '{words}': {self.text}")

    def ended_within(self, duration_s):
        until = time.monotonic() + duration_s
        while time.monotonic() < until:
            if select.select([self.terminal], [], [], 0.1)[0] and not self.read():
                return True
        return False

    def end(self):
        """Wait for the end; returns the exit code and standard output."""
        out = self.process.communicate(timeout=harness.DEADLINE)[0]
        while self.read():
            pass
        os.close(self.terminal)
        return self.process.returncode, out.decode()

    def kill(self):
        """For a test that failed."""
        self.process.kill()
        self.process.communicate()


class OnTerminal(SystemTest):
    def start(self, *args):
        started = Terminal(self.cluster, *args)
        self.addCleanup(started.kill)
        return started

    def endless(self):
        """A folder with one class folder, the walk of which never ends: the
        folders in it have ten links each to the next, 14 levels down."""
        root = self.cluster.path("endless")
        for i in range(14):
            folder = root / "class" / f"{i}"
            folder.mkdir(parents=True)
            for k in range(10):
                (folder / f"l{k}").symlink_to(f"../{i + 1}")
        (root / "class" / "14" / "x").mkdir(parents=True)
        (root / "class" / "14" / "x" / "1.jpg").touch()
        return root

    def interrupt(self, words, *args, number=signal.SIGINT):
        """Interrupt a command that shows a progress line with these words."""
        started = self.start(*args)
        started.wait_for(words)
        started.process.send_signal(number)
        if harness.SLOW > 1 and not started.ended_within(20):
            # ThreadSanitizer, which calls the handlers, can lose a signal
            started.process.send_signal(number)
        code, out = started.end()
        self.assertEqual(code, 128 + number, started.text)
        self.assertEqual(out, "")
        self.assertTrue(started.text.endswith("\r\x1b[K"), started.text)

    def test_ctrl_c_ends_a_scan_with_130(self):
        root = self.endless()
        made = self.cluster.path("made.yaml")
        self.interrupt("files looked at: ", "init", root, "-o", made)
        self.assertFalse(made.exists())
        self.interrupt("files looked at: ", "init", root,
                       number=signal.SIGTERM)
        pipeline = self.cluster.path("p.yaml")
        pipeline.write_text(PIPELINE.format(root=root))
        for command in ("plan", "lint"):
            self.interrupt(
                "looking at the data: 0 of 1", command, "-p", pipeline)

    def check(self, *args):
        """lint --check of p.yaml, in a folder with the pictures good.jpg and
        bad.jpg and lists of them; without a terminal, it shows no line."""
        return self.run_forebay(
            "lint", "--check", "-p", self.cluster.path("p.yaml"), *args)

    def lists(self, **rows):
        """A pipeline with a split for each of these lists of pictures."""
        picture = numpy.zeros((1024, 1024, 3), "u1")
        Image.fromarray(picture).save(self.cluster.path("good.jpg"))
        self.cluster.path("bad.jpg").write_text("no picture")
        for name, paths in rows.items():
            self.cluster.path(f"{name}.csv").write_text(
                "\n".join(["image", *paths]))
        self.cluster.path("p.yaml").write_text(LISTS.format(splits="\n".join(
            f"  {name}: {{list: {name}.csv, files: [image], shuffle: none, "
            f"exclude: bad.txt}}" for name in rows)))
        self.cluster.path("bad.txt").write_text("# mine\n")

    def test_lint_checks_all_splits_for_one_list(self):
        self.lists(train=["good.jpg", "bad.jpg"],
                   val=["good.jpg", "./good.jpg", "./bad.jpg"])
        bad = self.cluster.path("bad.txt")
        link = self.cluster.path("link.txt")
        link.symlink_to("bad.txt")
        one = self.check("--split", "val")
        self.assertEqual(len(one.stdout.splitlines()), 2, one.stdout)
        self.assertIn("split val: read 3 samples: 1 bad", one.stdout)
        self.assertIn("has no split 'none'", self.check(
            "--split", "none").stderr)
        found = self.check("-o", link)
        self.assertEqual(found.returncode, 1, found.stderr)
        self.assertIn("split train: read 2 samples: 1 bad", found.stdout)
        self.assertIn("write in each split:  exclude: ", found.stderr)
        # A link as FILE stays one, and what the file had is not lost.
        self.assertTrue(link.is_symlink())
        lines = [line for line in bad.read_text().splitlines()
                 if not line.startswith("# field")]
        self.assertEqual(lines, ["# mine", "[train]", "bad.jpg", "[val]",
                                 "bad.jpg"])
        clean = self.check("--json")
        self.assertEqual(clean.returncode, 0, clean.stdout + clean.stderr)
        self.assertEqual(json.loads(clean.stdout),
                         {"samples": 3, "read": 3, "bad": []})

    def test_a_list_without_bad_samples_can_be_excluded(self):
        self.lists(train=["good.jpg"])
        bad = self.cluster.path("bad.txt")
        pipeline = self.cluster.path("p.yaml")
        with_list = pipeline.read_text()
        pipeline.write_text(with_list.replace(", exclude: bad.txt", ""))
        bad.unlink()
        clean = self.check("-o", bad)
        self.assertEqual((clean.returncode, clean.stderr), (
            0, f"wrote {bad}, a list without names\n"))
        pipeline.write_text(with_list)
        again = self.check("-o", bad)
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertEqual(bad.read_text(),
                         "# names of bad samples, for the key exclude\n")

    def test_a_file_that_changes_during_lint_check_is_named(self):
        self.lists(train=["good.jpg"] * 50000)
        started = self.start("lint", "--check", "-p",
                             self.cluster.path("p.yaml"))
        started.wait_for("reading samples")
        started.wait_for(" of 50000")
        self.cluster.path("good.jpg").write_bytes(b"another")
        code, _ = started.end()
        self.assertEqual(code, 1, started.text)
        self.assertRegex(started.text, r"forebay lint: list train.csv, line "
                         r"\d+, sample \d+, file good.jpg: field image: was "
                         "cut short: ")

    def test_ctrl_c_ends_lint_check_and_keeps_what_it_found(self):
        self.lists(train=["bad.jpg", *["good.jpg"] * 50000], val=["good.jpg"])
        bad = self.cluster.path("bad.txt")
        started = self.start("lint", "--check", "-p",
                             self.cluster.path("p.yaml"), "-o", bad)
        started.wait_for("reading samples of train: ")
        started.wait_for(" of 50001")
        self.assertRegex(started.text, r"\.\.\.\S* reading samples")
        started.process.send_signal(signal.SIGINT)
        code, out = started.end()
        self.assertEqual(code, 130, started.text)
        self.assertRegex(out, r"^bad.jpg: sample 0: .*\n.*: split train: read "
                         r"\d+ samples of 50001 \(interrupted\): 1 bad\n$")
        self.assertTrue(bad.read_text().endswith("\nbad.jpg\n"))
        self.assertTrue(bad.read_text().startswith("# mine\n[train]\n# "))


if __name__ == "__main__":
    harness.main()
