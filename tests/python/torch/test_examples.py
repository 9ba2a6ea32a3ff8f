# SPDX-License-Identifier: Apache-2.0
"""The trainings in examples/: each runs, and a run that is killed and started
again has the losses of one that is not. Needs the packages of requirements."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from package import PYTHON, ROOT, PackageTest, Script, wait_until  # noqa: E402
import harness  # noqa: E402

EPOCHS = 8  # so many that a run is killed before its end
STEPS = EPOCHS * 6
LOSS = re.compile(r"^(.*step \d+) loss (\S+)$", re.M)


class Examples(PackageTest):
    def setUp(self):
        super().setUp()
        self.set_environment(OMP_NUM_THREADS="1", PYTHONPATH=PYTHON)
        self.data = self.cluster.path("data")
        for number, file in enumerate(sorted(self.cluster.photos(
                number=210, name="all").rglob("*.jpg"))):
            split = "val" if number % 12 == 0 else "train"
            folder = self.data / split / file.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            shutil.move(file, folder / file.name)

    def start(self, name, saved, ranks=None):
        """Start an example. Its checkpoints are below `saved`."""
        launch = [sys.executable]
        if ranks:
            launch += ["-m", "torch.distributed.run", "--nproc-per-node",
                       str(ranks)]
        process = harness.Process()
        process.log = self.cluster.path(f"{name}-{self.cluster.number()}.log")
        with open(process.log, "wb") as log:
            process.process = subprocess.Popen(
                [*launch, str(ROOT / "examples" / f"train_{name}.py"),
                 str(self.data), str(self.cluster.path(saved)), str(EPOCHS)],
                stdout=log, stderr=log, cwd=self.cluster.dir)
        self.addCleanup(self.kill, process)
        return process

    def kill(self, process):
        """Kill the process and its ranks, which have sessions of their own,
        but not the cluster."""
        process.kill()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if str(self.data).encode() in words:
                    os.kill(int(folder.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended

    def finish(self, process):
        """The losses that it printed, by epoch and step."""
        code = process.process.wait(harness.DEADLINE * 4)
        self.assertEqual(code, 0, process.text())
        return dict(LOSS.findall(process.text()))

    def check(self, name, begun, ranks=None):
        """`begun(folder)` says when the run to be killed has saved enough."""
        whole = self.finish(self.start(name, "whole", ranks=ranks))
        self.assertEqual(len(whole), STEPS)
        process = self.start(name, "killed", ranks=ranks)
        wait_until(lambda: begun(self.cluster.path("killed"), process),
                   harness.DEADLINE * 2)
        self.kill(process)
        rest = self.finish(self.start(name, "killed", ranks=ranks))
        self.assertTrue(0 < len(rest) < STEPS or name == "huggingface", rest)
        self.assertEqual(list(rest)[-1], list(whole)[-1])
        for step, loss in rest.items():
            self.assertEqual(loss, whole[step], step)

    def after(self, steps):
        return lambda folder, process: (
            len(LOSS.findall(process.text())) >= steps)

    def test_photos(self):
        script = ROOT / "examples" / "train_photos.py"
        outs = []
        for saved, kill in (("a", False), ("b", True), ("b", False)):
            run = Script(self, "import runpy\nsys.argv = sys.argv[1:]\n"
                         "sys.path.insert(0, os.path.dirname(sys.argv[0]))\n"
                         "runpy.run_path(sys.argv[0], run_name='__main__')",
                         script, self.data, "--epochs", 8, "--checkpoint",
                         self.cluster.path(saved))
            if kill:
                for _ in range(20):
                    run.line()
                run.kill()
            outs.append(run.process.communicate(timeout=240)[0])
        whole, rest = (dict(LOSS.findall(outs[i])) for i in (0, 2))
        self.assertEqual(len(whole), 48)
        self.assertTrue(0 < len(rest) < 36, rest)
        for step, loss in rest.items():
            self.assertEqual(loss, whole[step], step)
        reached = float(outs[0].split()[-1])
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
        self.check("huggingface", lambda folder, process: (
            folder / "checkpoint-5" / "loader.json").exists())


if __name__ == "__main__":
    harness.main()
