"""Batches of like length: what is in a batch, and that nothing gets lost."""

import json
import subprocess

import harness
import numpy

from harness import FOREBAY, SystemTest

SAMPLES, BATCH, BOUNDS = 150, 8, [40, 80, 120]


class Buckets(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.cluster.path("data")
        rng = numpy.random.default_rng(4)
        self.lengths = []
        for number in range(SAMPLES):
            folder = self.root / f"c{number // 40}"
            folder.mkdir(parents=True, exist_ok=True)
            array = numpy.zeros((), "u1" if number % 2 else "<i8") + number
            numpy.save(folder / f"{number:04}.npy", array)
            self.lengths.append(int(rng.integers(20, 160)))
            (folder / f"{number:04}.json").write_text(
                json.dumps({"v": number}).ljust(self.lengths[-1]))

    def pipeline(self, rest="last: short", bounds=BOUNDS, name="p.yaml"):
        path = self.cluster.path(name)
        path.write_text(
            f"forebay: 1\nsplits:\n  train:\n    folder: {self.root}\n"
            f"    {rest}\n    bucket_by: {{field: caption, bounds: {bounds}}}\n"
            f"global_batch: {BATCH}\nfields:\n"
            "  number: {from: npy, decode: array, shape: [], wire: u8}\n"
            "  caption: {from: json, key: v, wire: i32}\n")
        return path

    def bucket(self, number):
        return sum(self.lengths[number] > bound for bound in BOUNDS)

    def steps(self, *args):
        """(samples, bucket numbers) of each step that a run delivers."""
        pull = self.cluster.pull_alone(*args, "--field", "number")
        result = pull.finish()
        return pull.lines, result

    def plan(self, pipeline, step, epoch=0, *args):
        shown = subprocess.run(
            [FOREBAY, "plan", "-p", str(pipeline), "--json", "--step",
             str(step), "--epoch", str(epoch), *args], capture_output=True,
            text=True, check=False, env=self.cluster.env,
            timeout=60 * harness.SLOW)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return [row["sample"] for row in json.loads(shown.stdout)["rows"]]

    def batch(self, pipeline, step):
        path = self.cluster.path("batch.npz")
        shown = subprocess.run(
            [FOREBAY, "show", "-p", str(pipeline), "--step", str(step), "-o",
             str(path)],
            capture_output=True, text=True, check=False, env=self.cluster.env,
            timeout=120 * harness.SLOW)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        with numpy.load(path) as file:
            return {name: file[name] for name in file.files}

    def test_a_consumer_gets_each_sample_once_and_knows_which(self):
        pipeline = self.pipeline()
        count = -(-SAMPLES // BATCH)
        seen = []
        for step in range(count):
            batch = self.batch(pipeline, step)
            for name in ("number", "caption"):
                self.assertEqual(batch["samples"].tolist(),
                                 batch[name].tolist())
            self.assertEqual(batch["samples"].tolist(),
                             self.plan(pipeline, step))
            seen += batch["samples"].tolist()
        self.assertEqual(sorted(seen), list(range(SAMPLES)))

    def test_batches_are_of_one_bucket_but_for_the_rests(self):
        pipeline = self.pipeline("last: drop")
        counts = [0] * (len(BOUNDS) + 1)
        for number in range(SAMPLES):
            counts[self.bucket(number)] += 1
        orders = []
        for epoch in (0, 1):
            of = [{self.bucket(number) for number in
                   self.plan(pipeline, step, epoch)}
                  for step in range(SAMPLES // BATCH)]
            pure = [next(iter(buckets)) for buckets in of if len(buckets) == 1]
            self.assertGreaterEqual(
                len(pure), sum(count // BATCH for count in counts))
            orders.append(pure)
        self.assertNotEqual(orders[0], sorted(orders[0]))
        self.assertNotEqual(orders[0], orders[1])

    def test_without_shuffling_buckets_come_in_their_order(self):
        pipeline = self.pipeline("{shuffle: none, last: drop}"[1:-1].replace(
            ", ", "\n    "))
        first = self.plan(pipeline, 0)
        self.assertEqual(first, [number for number in range(SAMPLES)
                                 if self.bucket(number) == 0][:BATCH])

    def test_one_stream_for_any_number_of_workers_ranks_and_from_any_step(self):
        pipeline = self.pipeline("last: pad")
        one, result = self.steps(pipeline, "--epochs", 2, "--workers", 1)
        three, _ = self.steps(pipeline, "--epochs", 2, "--workers", 3)
        head, middle = self.steps(pipeline, "--epochs", 2, "--steps", 23)
        tail, _ = self.steps(
            pipeline, "--epochs", 2, "--resume", middle["token"])
        self.assertEqual(len(one), 2 * -(-SAMPLES // BATCH))
        self.assertEqual(one, three)
        self.assertEqual(one, head + tail)
        self.assertEqual(result["images"], len(one) * BATCH)

    def test_ranks_share_a_batch_of_one_bucket(self):
        pipeline = self.pipeline("last: drop")
        self.cluster.root = self.root
        self.cluster.start(2)
        pulls = [self.cluster.pull(
            pipeline, "--epochs", 1, "--job", "j", "--world", 2, "--rank",
            rank, "--field", "number") for rank in range(2)]
        for pull in pulls:
            pull.finish()
        self.assertEqual([len(pull.lines) for pull in pulls],
                         [SAMPLES // BATCH] * 2)
        for step in range(SAMPLES // BATCH):
            rows = self.plan(pipeline, step)
            halves = [self.plan(pipeline, step, 0, "--world", "2", "--rank",
                                str(rank)) for rank in range(2)]
            self.assertEqual(rows, halves[0] + halves[1])

    def test_other_bounds_are_another_stream(self):
        tokens = set()
        for i, bounds in enumerate(([40], [41], [40, 80])):
            pipeline = self.pipeline(bounds=bounds, name=f"{i}.yaml")
            tokens.add(self.steps(pipeline, "--epochs", 1)[1]["token"])
        self.assertEqual(len(tokens), 3)


if __name__ == "__main__":
    harness.main()
