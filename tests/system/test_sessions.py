# SPDX-License-Identifier: Apache-2.0
"""Sessions that share a worker: requests of others do not change a session's
stream."""

import unittest

import numpy

import harness
from harness import PIPELINE, SystemTest

TABLE = """\
forebay: 1
splits:
  train: {{columns: "{root}/NUMBER/train", shuffle: full, last: drop}}
global_batch: {batch}
seed: 1
fields:
  x: {{from: x, decode: array, shape: [4], wire: i32}}
"""

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

    def test_data_of_the_same_names_and_sizes_is_not_mixed_up(self):
        """Two tables differ only in their values, and so have one digest."""
        pipelines = []
        for value in range(2):
            folder = self.cluster.root / f"{value}/train"
            folder.mkdir(parents=True)
            numpy.save(folder / "x.npy", numpy.full((64, 4), value, "i4"))
            pipelines.append(self.cluster.pipeline(
                TABLE.replace("NUMBER", str(value)), batch=16,
                name=f"table{value}.yaml"))
        self.cluster.start(1)
        lone = []
        for pipeline in pipelines:
            lone.append(self.cluster.pull(pipeline, "--epochs", 50))
            lone[-1].finish()
        self.assertNotEqual(lone[0].result["digest"], lone[1].result["digest"])
        first = self.cluster.pull(pipelines[0], "--epochs", 50, "--job", "a",
                                  "--window", "1K", watched=True)
        first.steps(1)  # the other opens its data while this one runs
        second = self.cluster.pull(pipelines[1], "--epochs", 50, "--job", "b")
        for pull, alone in (second, lone[1]), (first, lone[0]):
            pull.finish()
            self.assertEqual(pull.result["digest"], alone.result["digest"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
