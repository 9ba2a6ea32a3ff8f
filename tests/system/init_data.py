# SPDX-License-Identifier: Apache-2.0
"""What tests of `forebay init` share: a folder of data, and what it says."""

import os
import subprocess
import sys
import tempfile

from harness import SystemTest


class InitTest(SystemTest):
    """Data is in `self.root`, and the pipeline that init writes in
    `self.pipeline`. A path is relative to the data, or absolute."""

    def setUp(self):
        super().setUp()
        self.root = self.cluster.path("data")
        self.root.mkdir()
        self.pipeline = self.cluster.path("made.yaml")

    def init(self, path="", *args):
        return self.run_forebay("init", self.root / path, "--force", "-o",
                                self.pipeline, *args)

    def made(self, path="", *args):
        """What init says of data of which it writes a pipeline."""
        made = self.init(path, *args)
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stderr

    def refused(self, path="", *args):
        """The cause, without the path that init puts before it."""
        made = self.init(path, *args)
        self.assertEqual(made.returncode, 1, made.stderr)
        said = made.stderr.removeprefix("forebay init: looking at ")
        return said.removeprefix(f"{self.root / path}: ").strip()

    def shell(self, command, cwd=None):
        """Run a command that init printed, in a folder of the data or, as
        most can be, in any."""
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        with tempfile.TemporaryDirectory() as elsewhere:
            subprocess.run(command, shell=True, check=True,
                           cwd=elsewhere if cwd is None else self.root / cwd,
                           env=dict(os.environ, PATH=path))
            self.assertEqual(os.listdir(elsewhere), [])
