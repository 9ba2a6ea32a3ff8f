# SPDX-License-Identifier: Apache-2.0
"""Ranks: they share the same global batch for any world size."""

import unittest

from harness import SystemTest, seconds


def rows(lines):
    """{(epoch, step): [(first row, samples with digests)]}"""
    steps = {}
    for line in lines:
        words = line.split()
        key = (int(words[0]), int(words[1]))
        steps.setdefault(key, []).append((int(words[2]), words[5:]))
    return steps


class Ranks(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.photos(number=100)
        self.cluster.start(2)

    def world(self, pipeline, world, job, *args):
        pulls = [self.cluster.pull(
            pipeline, "--job", job, "--world", world, "--rank", rank, *args)
            for rank in range(world)]
        for pull in pulls:
            pull.finish()
        return pulls

    def test_ranks_in_rank_order_are_the_stream_of_one(self):
        for last in ("drop", "pad", "short"):
            pipeline = self.cluster.pipeline(batch=24, last=last)
            whole = rows(self.world(pipeline, 1, f"{last}1",
                                    "--epochs", 2)[0].lines)
            for world in (2, 3, 4):
                parts = self.world(pipeline, world, f"{last}{world}",
                                   "--epochs", 2)
                merged = {}
                for pull in parts:
                    for step, pieces in rows(pull.lines).items():
                        merged.setdefault(step, []).extend(pieces)
                joined = {step: [(0, sum((samples for _, samples in pieces),
                                         []))]
                          for step, pieces in merged.items()}
                self.assertEqual(joined, whole, (last, world))

    def test_resume_with_another_world_and_fewer_workers(self):
        pipeline = self.cluster.pipeline(batch=24)
        whole = rows(self.world(pipeline, 1, "one", "--epochs", 3)[0].lines)
        head = self.world(pipeline, 2, "two", "--steps", 5)
        token = head[0].result["token"]
        self.assertEqual(head[1].result["token"], token)
        self.cluster.daemons[-1].terminate()
        tail = self.world(pipeline, 3, "three", "--epochs", 3,
                          "--resume", token)
        merged = {}
        for pull in head + tail:
            for step, pieces in rows(pull.lines).items():
                merged.setdefault(step, []).extend(pieces)
        joined = {step: [(0, sum((samples for _, samples in
                                  sorted(pieces)), []))]
                  for step, pieces in merged.items()}
        self.assertEqual(joined, whole)

    def test_a_world_that_does_not_divide_is_refused(self):
        pipeline = self.cluster.pipeline(batch=24)
        pull = self.cluster.pull(pipeline, "--job", "j", "--world", 5,
                                 "--rank", 0)
        pull.finish(code=1)
        self.assertIn("24", pull.error)
        self.assertIn("5", pull.error)

    def test_two_live_sessions_of_a_rank_are_refused(self):
        pipeline = self.cluster.pipeline(batch=24)
        first = self.cluster.pull(pipeline, "--job", "j", "--world", 2,
                                  "--rank", 0, "--epochs", 1000,
                                  "--step-ms", 20, watched=True)
        first.steps(2)
        second = self.cluster.pull(pipeline, "--job", "j", "--world", 2,
                                   "--rank", 0, "--epochs", 1000)
        second.finish(code=1, deadline_s=60 + seconds(20))
        self.assertIn("rank 0", second.error)
        first.steps(2)

    def test_ranks_that_differ_are_refused_with_both_values(self):
        pipeline = self.cluster.pipeline(batch=24)
        first = self.cluster.pull(pipeline, "--job", "j", "--world", 2,
                                  "--rank", 0, "--epochs", 1000,
                                  "--step-ms", 20, watched=True)
        first.steps(2)
        for args, words in ((("--world", 3, "--rank", 1), "world size 3"),
                            (("--world", 2, "--rank", 1, "--seed", 7),
                             "seed 7")):
            other = self.cluster.pull(pipeline, "--job", "j", *args)
            other.finish(code=1)
            self.assertIn(words, other.error)

    def test_a_seed_against_the_token_is_refused(self):
        pipeline = self.cluster.pipeline(batch=24)
        head = self.cluster.pull(pipeline, "--steps", 2)
        token = head.finish()["token"]
        other = self.cluster.pull(pipeline, "--resume", token, "--seed", 1,
                                  "--epochs", 1)
        other.finish(code=2)
        self.assertIn("--seed 1, but the token has seed 42", other.error)
        edited = self.cluster.pipeline(name="edited.yaml", batch=24, seed=7)
        other = self.cluster.pull(edited, "--resume", token, "--epochs", 1)
        other.finish(code=1)
        self.assertIn("the pipeline has seed: 7, but the token has seed 42: "
                      "restore the seed in the file", other.error)
        rest = self.cluster.pull(edited, "--resume", token, "--seed", 42,
                                 "--epochs", 1)
        self.assertGreater(rest.finish()["steps"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
