# SPDX-License-Identifier: Apache-2.0
"""The trainings in examples/: each runs, and a run that is killed and started
again has the losses of one that is not. Needs the packages of requirements.

The imports of the frameworks take longer than the trainings. So each training
runs in a process that a fork server makes, which has imported them."""

import multiprocessing
import os
import pathlib
import re
import runpy
import shutil
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from package import PYTHON, ROOT, PackageTest, wait_until  # noqa: E402
import harness  # noqa: E402

EPOCHS = 8  # so many that a run is killed before its end
STEPS = EPOCHS * 7
LOSS = re.compile(r"^(.*step \d+) loss (\S+)$", re.M)
EXAMPLES = ROOT / "examples"

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload([
    "accelerate", "lightning", "torch._dynamo", "torch.distributed.run",
    "transformers.trainer"])


def run(log, environment, folder, arguments):
    """Run a program in this process, as Python does for these arguments."""
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.update(environment)
    os.chdir(folder)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(sys.argv[0]))
        runpy.run_path(sys.argv[0], run_name="__main__")


class Training:
    def __init__(self, test, log, arguments, saved):
        self.log, self.saved = log, saved
        self.process = forks.Process(target=run, args=(
            log, dict(os.environ), test.cluster.dir, arguments))
        self.process.start()
        test.addCleanup(self.kill)

    def text(self):
        return self.log.read_text() if self.log.exists() else ""

    def losses(self):
        """The losses that it has printed, by epoch and step."""
        return dict(LOSS.findall(self.text()))

    def kill(self):
        """Kill the process and its ranks, which have sessions of their own,
        but not the cluster."""
        self.process.kill()
        self.process.join()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if str(self.saved).encode() in words:
                    os.kill(int(folder.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended


class Sizes(unittest.TestCase):
    def test_an_example_of_a_framework_has_at_most_60_lines(self):
        # Without the line of the licence.
        sizes = {path.name: len(path.read_text().splitlines()) - 1
                 for path in EXAMPLES.glob("train_*.py")}
        self.assertGreater(sizes.pop("train_photos.py"), 60)
        self.assertEqual(len(sizes), 6)
        self.assertLessEqual(max(sizes.values()), 60, sizes)


class Examples(PackageTest):
    def setUp(self):
        super().setUp()
        self.set_environment(OMP_NUM_THREADS="1", PYTHONPATH=PYTHON)
        self.data = self.cluster.path("data")
        for number, file in enumerate(sorted(self.cluster.photos(
                number=245, name="all").rglob("*.jpg"))):
            split = "val" if number % 12 == 0 else "train"
            folder = self.data / split / file.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            shutil.move(file, folder / file.name)

    def start(self, name, saved, ranks=None):
        """Start an example. Its checkpoints are in `saved`."""
        saved = self.cluster.path(saved)
        options = [saved, EPOCHS]
        if name == "photos":
            options = ["--checkpoint", saved, "--epochs", EPOCHS]
        arguments = [EXAMPLES / f"train_{name}.py", self.data, *options]
        if ranks:
            arguments = ["-m", "torch.distributed.run", "--nproc-per-node",
                         ranks, *arguments]
        log = self.cluster.path(f"{name}-{self.cluster.number()}.log")
        return Training(self, log, [str(word) for word in arguments], saved)

    def finish(self, training):
        training.process.join(harness.DEADLINE * 4)
        self.assertEqual(training.process.exitcode, 0, training.text())
        return training.losses()

    def check(self, name, begun, ranks=None):
        """`begun(training)` says when the run to be killed has saved enough.
        Returns the run that is not killed."""
        whole, killed = (self.start(name, saved, ranks)
                         for saved in ("whole", "killed"))
        wait_until(lambda: begun(killed), harness.DEADLINE * 2)
        killed.kill()
        again = self.start(name, "killed", ranks)
        rest = self.finish(again)
        # At its end Hugging Face's example prints the steps before, too.
        run = again.text().count("'loss':") if name == "huggingface" else (
            len(rest))
        self.assertTrue(0 < run < STEPS, again.text())
        losses = self.finish(whole)
        self.assertEqual(len(losses), STEPS)
        self.assertEqual(list(rest)[-1], list(losses)[-1])
        self.assertLessEqual(rest.items(), losses.items())
        return whole

    def after(self, steps):
        return lambda training: len(training.losses()) >= steps

    def test_photos(self):
        whole = self.check("photos", self.after(20))
        reached = float(whole.text().split()[-1])
        self.assertGreaterEqual(reached, 0.8)  # of few pictures

    def test_ddp(self):
        self.check("ddp", self.after(7), ranks=2)

    def test_dcp(self):
        self.check("dcp", self.after(7), ranks=2)

    def test_jax(self):
        self.check("jax", self.after(7))

    def test_accelerate(self):
        self.check("accelerate", self.after(7))

    def test_lightning(self):
        self.check("lightning", self.after(7))

    def test_huggingface(self):
        def saved(training):  # and written: a new file is empty at first
            state = training.saved / "checkpoint-5" / "loader.json"
            return state.exists() and state.stat().st_size > 0

        self.check("huggingface", saved)


if __name__ == "__main__":
    harness.main()
