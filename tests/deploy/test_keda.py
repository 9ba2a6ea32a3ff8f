#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers that are started and ended as KEDA would, by deploy/kubernetes/keda.

Here stand for KEDA and Kubernetes: a loop that reads the page /scale every so
often, the rules of a HorizontalPodAutoscaler with its default behaviour, and
processes for pods. All times are a tenth of the real ones."""

import json
import math
import os
import signal
import sys
import time
import unittest

import yaml

import base
from base import SOURCE

os.environ.setdefault("FOREBAY_BIN", base.FOREBAY)
sys.path.insert(0, str(SOURCE / "tests/system"))
import harness  # noqa: E402
import test_scale  # noqa: E402

SYNC_S = 15 / 10  # between two decisions of the autoscaler
STABLE_S = 300 / 10  # a smaller number is taken after
TOLERANCE = 0.1


class Autoscaler:
    """Which number of replicas a HorizontalPodAutoscaler sets.

    The rules are those of Kubernetes' documentation: replicas = ceil(value /
    target), unless value / (target x replicas) is within 10 % of 1; within 15 s
    at most 4 more or twice as many; never fewer than the highest number of the
    last 300 s."""

    def __init__(self, spec):
        (trigger,) = spec["triggers"]
        self.value = trigger["metadata"]["valueLocation"]
        self.target = float(trigger["metadata"]["targetValue"])
        self.least = spec["minReplicaCount"]
        self.most = spec["maxReplicaCount"]
        self.seen = []  # (time, number)

    def replicas(self, now, current, page):
        """`page` is None if it had no number: then the replicas stay (fallback
        with currentReplicasIfHigher, and 1 replica)."""
        wanted = current
        if page is not None:
            ratio = page[self.value] / (self.target * current)
            if abs(ratio - 1) > TOLERANCE:
                wanted = math.ceil(page[self.value] / self.target)
        self.seen = [(then, number) for then, number in self.seen
                     if now - then < STABLE_S] + [(now, wanted)]
        wanted = max(number for _, number in self.seen)
        wanted = min(wanted, max(2 * current, current + 4))
        return min(max(wanted, self.least), self.most)


class Rules(unittest.TestCase):
    SPEC = {"triggers": [{"metadata": {"valueLocation": "n",
                                       "targetValue": "1"}}],
            "minReplicaCount": 1, "maxReplicaCount": 32}

    def test_replicas(self):
        rules = Autoscaler(self.SPEC)
        for now, current, value, expected in (
                (0, 1, 3, 3), (1, 3, 20, 7), (2, 7, 100, 14), (3, 14, 100, 28),
                (4, 28, 100, 32), (5, 32, 31, 32), (5.5, 32, None, 32)):
            page = None if value is None else {"n": value}
            self.assertEqual(rules.replicas(now, current, page), expected)
        self.assertEqual(rules.replicas(34, 32, {"n": 2}), 32)
        self.assertEqual(rules.replicas(36, 32, {"n": 2}), 2)
        self.assertEqual(rules.replicas(70, 2, {"n": 0}), 1)


def scaled_object():
    path = SOURCE / "deploy/kubernetes/keda/scaledobject.yaml"
    for one in yaml.safe_load_all(path.read_text()):
        if one["kind"] == "ScaledObject":
            return one["spec"]


class Loop(test_scale.Scale):
    def scale(self):
        """Decide once, and start or end workers."""
        status, text = self.page()
        page = None if status == 503 else json.loads(text)
        current = len(self.workers)
        wanted = self.rules.replicas(time.monotonic(), current, page)
        for _ in range(wanted - current):
            self.workers.append(self.cluster.start_worker(
                "--threads", "1", faults=test_scale.SLOW_SAMPLES))
        for _ in range(current - wanted):
            self.workers.pop().process.send_signal(signal.SIGTERM)
        return status

    def train(self, step_ms, enough):
        """Take steps of a trainer until the number of workers is enough."""
        token = self.cluster.path("token")
        resume = ["--resume", f"@{token}"] if token.exists() else []
        pull = self.cluster.pull(
            self.pipeline, "--epochs", 100000, "--step-ms", step_ms,
            "--token-file", token, *resume, watched=True)
        until = time.monotonic() + 3 * harness.DEADLINE
        decide = time.monotonic()
        while not enough(len(self.workers)):
            pull.has_step(0.2)
            if time.monotonic() >= decide:
                self.scale()
                decide = time.monotonic() + SYNC_S
            self.assertLess(time.monotonic(), until, len(self.workers))
        pull.process.send_signal(signal.SIGINT)
        self.assertEqual(pull.finish(code=130)["lost"], 0)
        return pull.lines

    def test_workers_follow_the_trainer(self):
        self.rules = Autoscaler(scaled_object())
        self.cluster.photos()
        self.pipeline = self.cluster.pipeline()
        server = self.start_server()
        self.workers = []
        self.workers = [self.cluster.start_worker(
            "--threads", "1", faults=test_scale.SLOW_SAMPLES)]
        lines = self.train(80, lambda n: n >= 4)
        # A server that is started again has no number at first.
        before = len(self.workers)
        server.kill()
        address = server.endpoint
        self.cluster.start_server("--http", ":".join(
            map(str, self.page_address)), listen=address)
        self.assertEqual(self.scale(), 503)
        self.assertEqual(len(self.workers), before)
        lines += self.train(1500, lambda n: n <= 2)
        for daemon in self.cluster.daemons:
            if daemon.log.name.startswith("worker") and \
                    daemon not in self.workers:
                self.assertEqual(daemon.process.wait(harness.DEADLINE), 0)
        alone = self.cluster.pull_alone(self.pipeline, "--epochs",
                                        len(lines) // 12 + 1)
        alone.finish()
        self.assertTrue(alone.lines[:len(lines)] == lines)


def load_tests(loader, _tests, _pattern):
    """The tests of this file only: those of the base class run elsewhere."""
    suite = loader.loadTestsFromTestCase(Rules)
    suite.addTest(Loop("test_workers_follow_the_trainer"))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)
