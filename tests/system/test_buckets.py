# SPDX-License-Identifier: Apache-2.0
"""Batches of similar length: their samples, and that none is lost."""

import io
import json

import harness
import numpy

from harness import SystemTest

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

    def plan(self, pipeline, step, epoch=0, *args):
        shown = self.forebay("plan", "-p", pipeline, "--json", "--step", step,
                             "--epoch", epoch, *args)
        return [row["sample"] for row in json.loads(shown)["rows"]]

    def test_a_consumer_gets_each_sample_once_and_knows_which(self):
        pipeline = self.pipeline()
        count = -(-SAMPLES // BATCH)
        seen = []
        for step, batch in enumerate(self.first_batches(pipeline, count)):
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
        whole = self.assert_one_stream(
            pipeline, (pipeline, "--workers", 3), head=23,
            options=("--field", "number"))
        self.assertEqual(len(whole.lines), 2 * -(-SAMPLES // BATCH))
        self.assertEqual(whole.result["images"], 2 * SAMPLES)

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
            halves = [[int(row.split(":")[0]) for row in
                       pull.lines[step].split()[5:]] for pull in pulls]
            self.assertEqual(
                self.plan(pipeline, step), halves[0] + halves[1])

    def test_other_bounds_are_another_stream(self):
        tokens = set()
        for i, bounds in enumerate(([40], [41], [40, 80])):
            pipeline = self.pipeline(bounds=bounds, name=f"{i}.yaml")
            tokens.add(self.cluster.pull_alone(
                pipeline, "--epochs", 1, "--field", "number").finish()["token"])
        self.assertEqual(len(tokens), 3)


NUMBER = "  number: {from: number, decode: number, wire: u8}\n"
IDS = ("  ids: {from: ids, decode: array, shape: [], max_length: 200,\n"
       "        wire: i32, out: {as: ragged}}\n")
WORDS = ("  words: {from: words, decode: sparse, shape: [200],\n"
         "          max_length: 200, wire: f16, out: {as: csr}}\n")


class BucketsOfRows(SystemTest):
    """The same for rows of ragged and sparse columns."""

    def setUp(self):
        super().setUp()
        rng = numpy.random.default_rng(5)
        self.lengths = {"ids": [], "words": []}
        for day in range(3):
            folder = self.cluster.path("rec") / f"day-{day}"
            folder.mkdir(parents=True)
            n = rng.integers(0, 160, (2, 50))
            ends = numpy.cumsum(numpy.insert(n, 0, 0, axis=1), axis=1)
            numpy.save(folder / "ids.values.npy",
                       numpy.arange(ends[0, -1], dtype="i4"))
            numpy.save(folder / "ids.offsets.npy", ends[0])
            numpy.savez(
                folder / "words.npz", format=b"csr", shape=(50, 200),
                data=numpy.ones(ends[1, -1], "f4"),
                indices=numpy.concatenate([numpy.arange(k) for k in n[1]]),
                indptr=ends[1])
            numpy.save(folder / "number.npy",
                       numpy.arange(50 * day, 50 * day + 50, dtype="u1"))
            self.lengths["ids"] += n[0].tolist()
            self.lengths["words"] += n[1].tolist()

    def pipeline(self, field, rest="last: short", bounds=BOUNDS,
                 columns="rec/day-*", fields=NUMBER + IDS + WORDS):
        path = self.cluster.path("p.yaml")
        path.write_text(
            f"forebay: 1\nsplits:\n  train:\n    columns: {columns}\n"
            f"    {rest}\n    bucket_by: {{field: {field}, bounds: {bounds}}}"
            f"\nglobal_batch: {BATCH}\nfields:\n{fields}")
        return path

    def check_buckets(self, pipeline, lengths):
        seen, pure, steps = [], 0, -(-len(lengths) // BATCH)
        for step in range(steps):
            shown = self.forebay(
                "plan", "-p", pipeline, "--json", "--step", step)
            rows = [row["sample"] for row in json.loads(shown)["rows"]]
            seen += rows
            pure += len({sum(lengths[row] > bound for bound in BOUNDS)
                         for row in rows}) == 1
        self.assertEqual(sorted(seen), list(range(len(lengths))))
        self.assertGreaterEqual(pure, steps - len(BOUNDS) - 1)

    def test_batches_are_of_one_bucket_but_for_the_rests(self):
        for field, lengths in self.lengths.items():
            self.check_buckets(self.pipeline(field), lengths)

    def test_batches_of_one_npz_are_of_one_bucket_too(self):
        rng = numpy.random.default_rng(6)
        lengths = rng.integers(0, 160, 100)
        self.cluster.table("all.npz", {
            "ids.values": numpy.arange(lengths.sum(), dtype="i4"),
            "ids.offsets": numpy.cumsum([0, *lengths]),
            "number": numpy.arange(100, dtype="u1")})
        pipeline = self.pipeline(
            "ids", columns="rec/all.npz", fields=NUMBER + IDS)
        self.check_buckets(pipeline, lengths)
        got = self.batch(pipeline, 3)
        self.assert_equal(got["number"], got["samples"].astype("u1"))
        self.assert_equal(numpy.diff(got["ids.offsets"]),
                          lengths[got["samples"]].astype("i4"))

    def test_one_stream_for_any_number_of_workers_and_from_any_step(self):
        pipeline = self.pipeline("ids", "last: pad")
        whole = self.assert_one_stream(
            pipeline, (pipeline, "--workers", 3), head=23)
        self.assertEqual(len(whole.lines), 2 * -(-SAMPLES // BATCH))

    def test_ranks_share_a_batch_of_one_bucket(self):
        pipeline = self.pipeline("words", "last: drop")
        for step in (0, 5):
            rows = [json.loads(self.forebay(
                "plan", "-p", pipeline, "--json", "--step", step, *args))
                    for args in ((), ("--world", 2, "--rank", 0),
                                 ("--world", 2, "--rank", 1))]
            numbers = [[row["sample"] for row in part["rows"]]
                       for part in rows]
            self.assertEqual(numbers[0], numbers[1] + numbers[2])

    def test_lengths_are_kept_in_the_manifest(self):
        def digest(text):
            return text.split("data digest ")[1].split()[0]

        index = ("index", "-p", self.pipeline("ids"))
        with_ids = digest(self.forebay(*index))
        path = self.pipeline("ids")
        plain = path.read_text().replace(
            f"bucket_by: {{field: ids, bounds: {BOUNDS}}}", "slices: 1")
        path.write_text(plain.replace("    slices: 1\n", ""))
        without = digest(self.forebay(*index))
        self.pipeline("words")
        self.assertEqual(
            len({with_ids, without, digest(self.forebay(*index))}), 3)
        self.pipeline("ids", bounds=[9])
        self.assertEqual(with_ids, digest(self.forebay(*index)))
        offsets = self.cluster.path("rec") / "day-1" / "ids.offsets.npy"
        ends = numpy.load(offsets)
        ends[7] = ends[6]
        numpy.save(offsets, ends)
        self.assertNotEqual(with_ids, digest(self.forebay(*index)))

    def test_rows_of_one_length_have_no_buckets(self):
        shown = self.run_forebay("index", "-p", self.pipeline("number"))
        self.assertNotEqual(shown.returncode, 0)
        self.assertIn("bucket_by: the rows of field 'number' are all of one "
                      "length", shown.stderr)


class BucketsOfArrays(SystemTest):
    """The same for .npy members: bounds count entries of any size."""

    FIELDS = """\
  number: {from: json, decode: number, key: v, wire: u8}
  words:
    from: npy
    decode: array
    shape: [2]
    max_length: 200
    wire: i32
    out: {as: ragged}
"""

    def setUp(self):
        super().setUp()
        rng = numpy.random.default_rng(6)
        self.lengths = rng.integers(0, 160, SAMPLES).tolist()
        self.arrays = [numpy.full((n, 2), number, ("u1", "<i8")[number % 2])
                       for number, n in enumerate(self.lengths)]

    def tars(self):
        root, samples = self.cluster.path("tars"), []
        for number, array in enumerate(self.arrays):
            npy = io.BytesIO()
            numpy.save(npy, array)
            samples.append({"npy": npy.getvalue(),
                            "json": json.dumps({"v": number}).encode()})
        self.cluster.tars(root, samples)
        return f"shards: '{root}/*.tar'"

    def files(self, name, npy, value):
        root = self.cluster.path(name)
        (root / npy).mkdir(parents=True)
        (root / value).mkdir(exist_ok=True)
        for number, array in enumerate(self.arrays):
            numpy.save(root / npy / f"{number:04}.npy", array)
            (root / value / f"{number:04}.json").write_text(
                json.dumps({"v": number}))
        return root

    def pipeline(self, source, rest="last: short", fields=FIELDS):
        path = self.cluster.path("p.yaml")
        path.write_text(
            f"forebay: 1\nsplits:\n  train:\n    {source}\n    {rest}\n"
            f"    bucket_by: {{field: words, bounds: {BOUNDS}}}\n"
            f"global_batch: {BATCH}\nfields:\n{fields}")
        return path

    def plan(self, pipeline, step, *args):
        shown = self.forebay(
            "plan", "-p", pipeline, "--json", "--step", step, *args)
        return [row["sample"] for row in json.loads(shown)["rows"]]

    def check(self, pipeline):
        """Each sample once, in batches of one bucket but for the rests."""
        seen, pure = [], 0
        steps = -(-SAMPLES // BATCH)
        for step in range(steps):
            rows = self.plan(pipeline, step)
            seen += rows
            pure += len({sum(self.lengths[row] > bound for bound in BOUNDS)
                         for row in rows}) == 1
        self.assertEqual(sorted(seen), list(range(SAMPLES)))
        self.assertGreaterEqual(pure, steps - len(BOUNDS) - 1)
        batch = self.batch(pipeline)
        self.assertEqual(batch["samples"].tolist(), self.plan(pipeline, 0))
        self.assertEqual(batch["samples"].tolist(), batch["number"].tolist())

    def test_of_tars(self):
        self.check(self.pipeline(self.tars()))

    def test_of_a_folder(self):
        root = self.files("folder", "c", "c")
        self.check(self.pipeline(f"folder: {root}"))

    def test_of_parallel_folders(self):
        root = self.files("pairs", "words", "number")
        fields = (self.FIELDS.replace("from: json", "from: number.json")
                  .replace("from: npy", "from: words.npy"))
        self.check(self.pipeline(
            f"parallel: '{root}/{{number,words}}'", fields=fields))

    def test_one_stream_for_any_number_of_workers_and_from_any_step(self):
        pipeline = self.pipeline(self.tars(), "last: pad")
        one = self.cluster.pull_alone(pipeline, "--epochs", 2, "--workers", 1)
        three = self.cluster.pull_alone(
            pipeline, "--epochs", 2, "--workers", 3)
        head = self.cluster.pull_alone(pipeline, "--epochs", 2, "--steps", 23)
        one.finish()
        three.finish()
        tail = self.cluster.pull_alone(
            pipeline, "--epochs", 2, "--resume", head.finish()["token"])
        tail.finish()
        self.assertEqual(len(one.lines), 2 * -(-SAMPLES // BATCH))
        self.assertEqual(one.lines, three.lines)
        self.assertEqual(one.lines, head.lines + tail.lines)

    def test_ranks_share_a_batch_of_one_bucket(self):
        pipeline = self.pipeline(self.tars(), "last: drop")
        for step in (0, 5):
            halves = [self.plan(pipeline, step, "--world", 2, "--rank", rank)
                      for rank in range(2)]
            self.assertEqual(
                self.plan(pipeline, step), halves[0] + halves[1])

    def digest(self, pipeline):
        shown = self.forebay("index", "-p", pipeline)
        return shown.split("data digest ")[1].split()[0]

    def test_lengths_are_kept_in_the_manifest(self):
        source = self.tars()
        pipeline = self.pipeline(source)
        bucketed = pipeline.read_text()
        pipeline.write_text("".join(
            line for line in bucketed.splitlines(True)
            if "bucket_by" not in line))
        without = self.digest(pipeline)
        pipeline.write_text(bucketed)
        self.assertNotEqual(without, self.digest(pipeline))
        self.check(pipeline)
        pipeline.write_text(bucketed.replace(str(BOUNDS), "[9]"))
        other_bounds = self.digest(pipeline)
        pipeline.write_text(bucketed)
        self.assertEqual(other_bounds, self.digest(pipeline))

    def test_a_member_that_is_no_array_is_a_bad_sample_as_ever(self):
        root = self.files("folder", "c", "c")
        bad = {3: b"", 4: b"\x93NUMPY\x01\x00\xff\xff{", 5: b"none"}
        for number, data in bad.items():
            (root / "c" / f"{number:04}.npy").write_bytes(data)
        numpy.save(root / "c" / "0006.npy", numpy.array(6))
        pipeline = self.pipeline(f"folder: {root}")
        self.forebay("index", "-p", pipeline)
        pull = self.run_forebay("pull", "-p", pipeline, "--epochs", 1)
        self.assertNotEqual(pull.returncode, 0)
        self.assertRegex(pull.stderr, r"c/000[3-6].npy, sample [3-6]")
        path = self.pipeline(f"folder: {root}")
        path.write_text(path.read_text().replace(
            "fields:", "on_bad_sample: {do: substitute, limit: 4}\nfields:"))
        result = self.cluster.pull_alone(path, "--epochs", 1).finish()
        self.assertEqual(result["substituted"], 4)


if __name__ == "__main__":
    harness.main()
