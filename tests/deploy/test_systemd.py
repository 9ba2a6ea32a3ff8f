#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The units in deploy/systemd, as `systemd-analyze` reads them, and what a
service manager hears from the programs that they start."""

import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from base import FOREBAY, SOURCE

UNITS = SOURCE / "deploy/systemd"


class Units(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="forebay-test-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.units = []
        for unit in sorted(UNITS.glob("*.service")):
            text = unit.read_text().replace("ExecStart=forebay ",
                                            f"ExecStart={FOREBAY} ")
            (self.dir / unit.name).write_text(text)
            self.units.append(self.dir / unit.name)

    def analyze(self, *args):
        return subprocess.run(["systemd-analyze", *map(str, args)], check=False,
                              stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=60)

    def test_the_units_are_valid(self):
        self.assertEqual([unit.name for unit in self.units],
                         ["forebay-server.service", "forebay-worker.service"])
        verified = self.analyze("verify", "--man=no", *self.units)
        self.assertEqual((verified.returncode, verified.stdout), (0, ""))

    def test_the_exposure_is_at_most_3(self):
        for unit in self.units:
            shown = self.analyze("security", "--offline=true", "--threshold=30",
                                 unit)
            self.assertEqual(shown.returncode, 0, shown.stdout)
            self.assertIn("Overall exposure level", shown.stdout)


class Manager(unittest.TestCase):
    """A service manager that is a socket of this test."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="forebay-test-"))
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "data/cat").mkdir(parents=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.socket.bind(str(self.dir / "notify"))

    def hear(self):
        """The next message."""
        if not select.select([self.socket], [], [], 60)[0]:
            raise AssertionError("the process said nothing")
        return self.socket.recv(4096).decode()

    def hear_until(self, words):
        """The messages before the one that begins so."""
        heard = []
        while not (text := self.hear()).startswith(words):
            heard.append(text)
        return heard

    def start(self, *args):
        # The time of the watchdog is that of the unit, divided by 100.
        unit = (UNITS / f"forebay-{args[0]}.service").read_text()
        watchdog_s = int(re.search(r"^WatchdogSec=(\d+)$", unit, re.M)[1])
        process = subprocess.Popen(
            [FOREBAY, *args], stderr=subprocess.DEVNULL,
            env={**os.environ, "NOTIFY_SOCKET": str(self.dir / "notify"),
                 "WATCHDOG_USEC": str(watchdog_s * 10000),
                 "FOREBAY_CACHE_DIR": str(self.dir / "cache")})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_server_and_worker_say_that_they_are_ready_alive_and_stopping(self):
        for args in (("server", "--listen", "tcp://127.0.0.1:*"),
                     ("worker", "--server", "tcp://127.0.0.1:9", "--data",
                      f"d={self.dir / 'data'}")):
            process = self.start(*args)
            self.assertEqual(self.hear_until("READY=1"), [])
            for _ in range(3):
                self.assertEqual(self.hear(), "WATCHDOG=1")
            process.send_signal(signal.SIGTERM)
            heard = self.hear_until("STOPPING=1")
            self.assertEqual(set(heard) - {"WATCHDOG=1"}, set())
            self.assertEqual(process.wait(60), 0)
            while select.select([self.socket], [], [], 0)[0]:
                self.assertEqual(self.hear(), "WATCHDOG=1")


if __name__ == "__main__":
    if shutil.which("systemd-analyze") is None:
        print("systemd: skipped: there is no systemd-analyze here")
        sys.exit(77)
    unittest.main(verbosity=2)
