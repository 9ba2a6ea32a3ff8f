# SPDX-License-Identifier: Apache-2.0
"""Sessions that share a worker: requests of others do not change a session's
stream."""

import unittest

import harness
from harness import PIPELINE, SystemTest

SPLIT = """\
  other: {{folder: "{root}", shuffle: none, last: drop}}
global_batch"""


class Sessions(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.env.update(harness.PATIENT)
        self.cluster.photos(number=96)
        self.pipeline = self.cluster.pipeline(
            PIPELINE.replace("global_batch", SPLIT, 1), batch=16)

    def pull(self, name, *args):
        return self.cluster.pull(self.pipeline, "--job", name, "--epochs", 3,
                                 *args)

    def check(self, pull, lone):
        pull.finish()
        self.assertEqual(pull.lines, lone.lines)
        self.assertEqual(pull.result["digest"], lone.result["digest"])
        self.assert_sound(pull.result)

    def test_eight_that_differ_in_anything_get_what_each_gets_alone(self):
        self.cluster.start(1)
        begun = self.pull("begun", "--split", "train", "--steps", 6)
        later = begun.finish()["token"]  # the same, an epoch later
        kinds = [(), ("--seed", 7), ("--field", "label"), ("--field", "image"),
                 ("--split", "other"), ("--resume", later),
                 ("--world", 2, "--rank", 0), ("--world", 2, "--rank", 1)]
        lone = []
        for i, args in enumerate(kinds):
            lone.append(self.pull(f"lone-{i}", *args))
            lone[-1].finish()
            self.assert_sound(lone[-1].result)
        digests = [pull.result["digest"] for pull in lone]
        self.assertEqual(len(set(digests)), len(kinds))
        jobs = [f"one-{i}" for i in range(6)] + ["ranks", "ranks"]
        pulls = [self.pull(job, *args) for job, args in zip(jobs, kinds)]
        for pull, alone in zip(pulls, lone):
            self.check(pull, alone)

    def test_eight_of_a_kind_get_the_same_and_nothing_twice(self):
        self.cluster.start(1)
        lone = self.pull("lone")
        lone.finish()
        pulls = [self.pull(f"one-{i}") for i in range(8)]
        for pull in pulls:
            self.check(pull, lone)


if __name__ == "__main__":
    unittest.main(verbosity=2)
