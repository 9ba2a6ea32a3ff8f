#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/ray: workers as tasks of a real Ray cluster of one node."""

import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time
import unittest

import base
from base import FOREBAY, SOURCE

os.environ.setdefault("FOREBAY_BIN", FOREBAY)
sys.path.insert(0, str(SOURCE / "tests/system"))
import harness  # noqa: E402

BIN = pathlib.Path(sys.executable).parent
SCRIPT = SOURCE / "deploy/ray/workers.py"
# A sample takes a thread 20 ms, without CPU time.
SLOW_SAMPLES = "worker.slow:every_sample=1:ms=20"


class Script(unittest.TestCase):
    def test_it_has_at_most_80_lines(self):
        self.assertLessEqual(len(SCRIPT.read_text().splitlines()), 80)


class Ray(harness.SystemTest):
    def setUp(self):
        super().setUp()
        os.environ.update(
            PATH=f"{pathlib.Path(FOREBAY).resolve().parent}:"
                 f"{os.environ['PATH']}",
            RAY_TMPDIR=str(self.cluster.dir), RAY_USAGE_STATS_ENABLED="0")
        self.cluster.env.update(os.environ)
        self.cluster.start_server()
        subprocess.run(
            [BIN / "ray", "start", "--head", "--num-cpus", "8", "--port", "0",
             "--include-dashboard", "false", "--object-store-memory",
             "80000000"],
            check=True, stdout=subprocess.DEVNULL,
            env=dict(self.cluster.env, FOREBAY_FAULT=SLOW_SAMPLES))
        self.addCleanup(subprocess.run, [BIN / "ray", "stop", "--force"],
                        check=False, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)

    def start_workers(self):
        self.said = self.cluster.path("workers.log")
        with open(self.said, "wb") as log:
            process = subprocess.Popen(
                [sys.executable, SCRIPT, "--server",
                 self.cluster.server.endpoint, "--data",
                 f"data={self.cluster.root}", "--cpus", "1", "--memory", "1", "--max", "3",
                 "--every", "0.5"],
                stdout=log, stderr=log, env=self.cluster.env)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def workers(self):
        """The pids of workers that run, and that are not leaving."""
        found = subprocess.run(["pgrep", "-f", "^forebay worker --server="
                                + re.escape(self.cluster.server.endpoint)],
                               check=False, stdout=subprocess.PIPE, text=True)
        return [int(pid) for pid in found.stdout.split()]

    def server_says(self):
        return subprocess.run(
            [FOREBAY, "scale", "--why", "--server",
             self.cluster.server.endpoint],
            check=False, capture_output=True, text=True)

    def wait_until(self, enough, pull=None):
        until = time.monotonic() + 2 * harness.DEADLINE
        while not enough(self.workers()):
            if time.monotonic() > until:
                self.fail(f"{self.workers()}, {self.server_says()}, "
                          f"{self.said.read_text()}")
            if pull:
                pull.has_step(0.2)
            else:
                select.select([], [], [], 0.2)

    def test_workers_follow_the_trainer(self):
        self.cluster.photos()
        script = self.start_workers()
        self.wait_until(lambda pids: len(pids) == 1)
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 100000,
                                 watched=True)
        self.wait_until(lambda pids: len(pids) == 3, pull)
        killed = self.workers()[0]
        os.kill(killed, signal.SIGKILL)
        self.wait_until(lambda pids: len(pids) == 3 and killed not in pids,
                        pull)
        pull.process.send_signal(signal.SIGINT)
        pull.finish(code=130)
        self.wait_until(lambda pids: len(pids) == 1)
        script.send_signal(signal.SIGTERM)
        self.assertEqual(script.wait(harness.DEADLINE), 0)
        self.assertEqual(self.workers(), [])
        alone = self.cluster.pull_alone(self.cluster.pipeline(), "--epochs",
                                        len(pull.lines) // 12 + 1)
        alone.finish()
        self.assertTrue(alone.lines[:len(pull.lines)] == pull.lines)


if __name__ == "__main__":
    unittest.main(verbosity=2)
