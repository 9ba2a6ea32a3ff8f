# SPDX-License-Identifier: Apache-2.0
"""A cluster with keys whose processes are killed at random, again and again: no
batch is lost, repeated or changed, and no descriptor is left open.

20 minutes and 200 kills with FOREBAY_TEST_LONG. FOREBAY_TEST_SOAK_S and
FOREBAY_SEED choose another duration and other kills."""

import contextlib
import os
import random
import signal
import time

import harness
from harness import DEADLINE, LONG, Daemon, SystemTest

DURATION_S = float(
    os.environ.get("FOREBAY_TEST_SOAK_S", "1200" if LONG else "12"))
PAUSE_S = 6 if LONG else 1.5  # from a kill to the next
SPARE_FILES = 4  # sockets that a process may have more at one moment


class Trainer:
    """A trainer that goes on from its token when it was killed."""

    def __init__(self, test, name):
        self.test = test
        self.token = test.cluster.path(f"token-{name}")
        self.args = ["--job", name, "--token-file", self.token]
        self.lines = []
        self.pull = test.start_pull(*self.args)

    def kill(self):
        self.pull.kill()
        self.collect(-signal.SIGKILL)
        if self.token.exists():
            resume = ["--resume", f"@{self.token}"]
        else:
            resume = []
        self.pull = self.test.start_pull(*self.args, *resume)

    def collect(self, code):
        """Append the lines of the process, which has ended. Those of a batch
        whose token was not written yet come again."""
        self.pull.finish(code=code)
        if self.pull.lines:
            first = self.pull.lines[0].split()[:2]
            places = [line.split()[:2] for line in self.lines]
            self.test.assertIn(first, places[-2:] + [self.after(places)])
            if first in places:
                del self.lines[places.index(first):]
            self.lines += self.pull.lines

    def after(self, places):
        """The epoch and step that follow."""
        if not places:
            return ["0", "0"]
        epoch, step = map(int, places[-1])
        if step + 1 < self.test.STEPS:
            return [str(epoch), str(step + 1)]
        return [str(epoch + 1), "0"]

    def end(self):
        self.pull.process.send_signal(signal.SIGINT)
        self.collect(130)


class Soak(SystemTest):
    STEPS = 12  # of an epoch

    def setUp(self):
        super().setUp()
        self.cluster.photos(number=192)
        self.pipeline = self.cluster.pipeline()
        self.keys = self.cluster.path("keys")
        self.forebay("keys", "init", self.keys)
        self.forebay("keys", "add", self.keys, "worker")
        self.forebay("keys", "add", self.keys, "trainer", "t")
        self.random = random.Random(int(os.environ.get("FOREBAY_SEED", "1")))

    def start_server(self, listen="tcp://127.0.0.1:*"):
        return self.cluster.start_server("--keys", self.keys, listen=listen)

    def start_worker(self, listen="tcp://127.0.0.1:*"):
        return Daemon(self.cluster, [
            "worker", "--server", self.cluster.server.endpoint, "--threads",
            "1", "--data", f"data={self.cluster.root}", "--listen", listen,
            "--keys", str(self.keys / "worker.key")])

    def start_pull(self, *args):
        return self.cluster.pull(
            self.pipeline, "--epochs", "1000000", "--window", "1M",
            "--step-ms", "20", "--keys", self.keys / "trainer-t.key", *args,
            watched=True)

    def kill_server(self):
        endpoint = self.cluster.server.endpoint
        self.cluster.server.kill()
        self.start_server(endpoint)

    def kill_worker(self):
        """Kill one, and start another, half of the time on its port."""
        killed = self.workers.pop(self.random.randrange(len(self.workers)))
        killed.kill()
        endpoints = [killed.endpoint, "tcp://127.0.0.1:*"]
        self.workers.append(self.start_worker(self.random.choice(endpoints)))

    def watch(self, trainers, duration_s):
        """Take all steps that arrive in this time."""
        until = time.monotonic() + duration_s
        while time.monotonic() < until:
            trainers[0].pull.has_step(0.02)
            for trainer in trainers:
                while trainer.pull.has_step(0.001):
                    pass

    def wait_for_steps(self, trainers):
        for trainer in trainers:
            trainer.pull.steps(20)

    def files(self, process):
        """The number of its descriptors, but for those of samples, and those
        that it closes meanwhile."""
        folder = f"/proc/{process.process.pid}/fd"
        links = []
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                links.append(os.readlink(f"{folder}/{name}"))
        return sum(not link.startswith(str(self.cluster.root))
                   for link in links)

    def test_random_kills(self):
        self.start_server()
        veteran = self.start_worker()
        self.workers = [self.start_worker() for _ in range(2)]
        trainers = [Trainer(self, name) for name in ("veteran", "killed")]
        self.wait_for_steps(trainers)
        lasting = [veteran, trainers[0].pull]
        before = [self.files(process) for process in lasting]
        kills = [self.kill_server, self.kill_worker, trainers[1].kill]
        number = int(DURATION_S / PAUSE_S)
        for _ in range(number):
            self.random.choice(kills)()
            self.watch(trainers, PAUSE_S)
        self.wait_for_steps(trainers)
        self.watch(trainers, 2 * PAUSE_S)  # old connections end
        after = [self.files(process) for process in lasting]
        print(f"{number} kills; files of a worker and a trainer: {before}, "
              f"then {after}")
        for old, new in zip(before, after):
            self.assertLessEqual(new, old + SPARE_FILES)
        for trainer in trainers:
            trainer.end()
            alone = self.cluster.pull_alone(
                self.pipeline, "--steps", len(trainer.lines), "--workers", 1)
            alone.finish(deadline_s=DEADLINE + DURATION_S)
            self.assertTrue(trainer.lines == alone.lines, trainer.args)


if __name__ == "__main__":
    harness.main()
