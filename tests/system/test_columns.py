"""Columns of NumPy files: what a consumer gets are NumPy's own rows."""

import os
import subprocess

import harness
import numpy

from harness import SystemTest

TYPES = ["b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4",
         "f8"]
WIRES = {"u8": "u1", "u16": "u2", "i32": "i4", "i64": "i8", "u32": "u4",
         "f16": "f2", "f32": "f4"}

FIELDS = """\
global_batch: {batch}
on_bad_sample: {do: substitute, limit: 100}
fields:
  dense: {from: dense, decode: array, shape: [13], wire: f32}
  ids: {from: [ids, other], decode: array, shape: [2, 3], wire: i64}
  click: {from: click, decode: label, classes: 3}
  price: {from: price, decode: number}
"""


def table(rng, rows, order="<"):
    """A shard's columns, whose dtypes may be those of no other shard."""
    return {
        "dense": rng.normal(size=(rows, 13)).astype(order + "f4"),
        "ids": rng.integers(-2**40, 2**40, (rows, 2, 3)).astype(order + "i8"),
        "click": rng.integers(0, 3, rows).astype(order + "i2"),
        "price": rng.random(rows).astype(order + "f8"),
    }


class Columns(SystemTest):
    def days(self, rows=(700, 1, 301)):
        """Two folders, one of them big-endian, and a .npz."""
        rng = numpy.random.default_rng(1)
        days = [table(rng, rows[0]), table(rng, rows[1], ">"),
                table(rng, rows[2])]
        days[2]["dense"] = days[2]["dense"].astype("f8")
        days[1]["other"] = days[1].pop("ids")
        for i, name in enumerate(("day-0", "day-1", "day-2.npz")):
            self.cluster.table(name, days[i])
        days[1]["ids"] = days[1]["other"]
        return {name: numpy.concatenate([day[name] for day in days])
                for name in ("dense", "ids", "click", "price")}

    def pipeline(self, fields=FIELDS, **others):
        return self.cluster.of_tables(fields, **others)

    def check_epoch(self, pipeline, right, batch):
        """Every row is NumPy's row of that number; each comes once."""
        rows = len(right["dense"])
        seen = []
        for step in range((rows + batch - 1) // batch):
            got = self.batch(pipeline, step)
            numbers = got["samples"]
            self.assert_equal(got["dense"], right["dense"][numbers].astype("f4"))
            self.assert_equal(got["ids"], right["ids"][numbers].astype("i8"))
            self.assert_equal(got["click"],
                              right["click"][numbers].astype("i8"))
            self.assert_equal(got["price"],
                              right["price"][numbers].astype("f4"))
            seen.extend(numbers[:rows - step * batch])
        self.assertEqual(sorted(seen), list(range(rows)))

    def test_rows_of_folders_and_npz_are_what_numpy_takes(self):
        right = self.days()
        for i, keys in enumerate((
                "shuffle: full, last: pad", "shuffle: none, last: pad",
                "shuffle: {block: 1}, last: pad")):
            pipeline = self.pipeline(name=f"p{i}.yaml", batch=250, keys=keys)
            self.check_epoch(pipeline, right, 250)

    def test_every_dtype_becomes_every_type_that_holds_it(self):
        rng = numpy.random.default_rng(2)
        rows = 5000
        arrays = {}
        for name in TYPES:
            for order in "<>":
                key = name + ("l" if order == "<" else "b")
                small = rng.integers(0, 2, (rows, 3))
                arrays[key] = small.astype(order + name)
        self.cluster.table("day-0", arrays)
        for wire, dtype in WIRES.items():
            fields = "global_batch: 4999\nfields:\n"
            for key in arrays:
                fields += (f"  {key}: {{from: {key}, decode: array, shape: "
                           f"[3], wire: {wire}}}\n")
            pipeline = self.pipeline(fields, name=f"{wire}.yaml")
            got = self.batch(pipeline, 0)
            for key, array in arrays.items():
                self.assert_equal(
                    got[key], array[got["samples"]].astype(dtype))

    def test_columns_travel_as_bits_and_one_that_is_none_is_replaced(self):
        rng = numpy.random.default_rng(7)
        arrays = {"b": rng.random((900, 3, 13)) > 0.5,
                  "i": rng.integers(0, 2, (900, 9)).astype(">i4")}
        arrays["i"][77, 5] = 2
        self.cluster.table("day-0", arrays)
        fields = ("global_batch: 900\non_bad_sample: substitute\nfields:\n"
                  "  b: {from: b, decode: array, shape: [3, 13], wire: bits, "
                  "out: {dtype: u8}}\n"
                  "  i: {from: i, decode: array, shape: [9], wire: bits, "
                  "out: {dtype: u8}}\n")
        got = self.batch(self.pipeline(fields), 0)
        for name, array in arrays.items():
            self.assert_equal(got[name], array[got["samples"]].astype("u1"))
        self.assertNotIn(77, got["samples"])

    def test_rows_larger_than_a_chunk_arrive_whole(self):
        rng = numpy.random.default_rng(3)
        arrays = {"a": rng.random((5, 700, 1001), "f4"),
                  "b": rng.random((5, 1), "f8")}
        self.cluster.table("day-0", arrays)
        fields = ("global_batch: 4\nfields:\n"
                  "  a: {from: a, decode: array, shape: [700, 1001], "
                  "wire: f32}\n"
                  "  b: {from: b, decode: array, shape: [1], wire: f16}\n")
        got = self.batch(self.pipeline(fields), 0)
        self.assert_equal(got["a"], arrays["a"][got["samples"]])
        self.assert_equal(got["b"], arrays["b"][got["samples"]].astype("f2"))

    def test_one_stream_on_one_and_two_workers_and_resumed(self):
        self.days()
        pipeline = self.pipeline(batch=100)
        one = self.cluster.pull_alone(
            pipeline, "--workers", 1, "--epochs", 2)
        two = self.cluster.pull_alone(
            pipeline, "--workers", 2, "--epochs", 2)
        begun = self.cluster.pull_alone(pipeline, "--workers", 2, "--steps", 7)
        self.assertEqual(one.finish()["digest"], two.finish()["digest"])
        token = begun.finish()["token"]
        rest = self.cluster.pull_alone(
            pipeline, "--workers", 1, "--epochs", 2, "--resume", token)
        rest.finish()
        self.assertEqual(begun.lines + rest.lines, one.lines)

    def test_bad_rows_are_substituted_by_row_and_named(self):
        rng = numpy.random.default_rng(4)
        arrays = table(rng, 600)
        arrays["click"][17] = 3
        arrays["click"][18] = -1
        arrays["price"][400] = 1e300
        self.cluster.table("day-0", arrays)
        pull = self.cluster.pull_alone(
            self.pipeline(batch=600), "--epochs", 1)
        result = pull.finish()
        self.assertEqual(result["substituted"], 3)
        for words in ("row 17 (sample 17): field click: label 3 is too large; "
                      "0 to 2 are right",
                      "row 18 (sample 18): field click: value 0 is -1 (int16)",
                      "row 400 (sample 400): field price: value 0 is 1e+300"):
            self.assertIn(words, pull.error)
        got = self.batch(self.pipeline(batch=600), 0)
        self.assert_equal(got["dense"], arrays["dense"][got["samples"]])
        self.assertFalse({17, 18, 400} & set(got["samples"].tolist()))

    def refuses(self, arrays, words, name="day-0"):
        self.cluster.table(name, arrays)
        shown = self.run_forebay("index", "-p", self.pipeline())
        self.assertNotEqual(shown.returncode, 0)
        self.assertIn(words, shown.stderr)
        subprocess.run(["rm", "-r", self.cluster.path("rec")], check=True)

    def test_what_is_no_table_is_refused_by_name(self):
        rng = numpy.random.default_rng(5)
        short = table(rng, 60)
        short["price"] = short["price"][:59]
        self.refuses(short, "shard day-0: price.npy: it has 59 rows, and "
                            "column click has 60; all columns of a shard have "
                            "as many")
        fortran = table(rng, 60)
        fortran["dense"] = numpy.asfortranarray(fortran["dense"])
        self.refuses(fortran, "dense.npy: its values are in Fortran order")
        objects = table(rng, 60)
        objects["click"] = numpy.array([{}] * 60, dtype=object)
        self.refuses(objects, "click.npy: its dtype is '|O'")
        self.refuses({"a": numpy.array(3)}, "a.npy: its shape is []")
        self.refuses({"a": numpy.zeros((0, 3))}, "a.npy: its shape is [0, 3]")
        self.refuses({}, "it holds no column")
        self.refuses({"a": numpy.zeros(3), "A": numpy.zeros(3)},
                     "two columns named a")

    def test_a_compressed_npz_says_how_to_save_it(self):
        path = self.cluster.path("rec")
        path.mkdir()
        numpy.savez_compressed(path / "day-0.npz", dense=numpy.zeros((9, 13)))
        shown = self.run_forebay("index", "-p", self.pipeline())
        self.assertIn("shard day-0.npz: dense.npy: it is compressed, so its "
                      "rows cannot be read where they lie; save it with "
                      "np.savez", shown.stderr)

    def test_fields_that_do_not_fit_a_column_are_refused_at_open(self):
        rng = numpy.random.default_rng(6)
        self.cluster.table("day-0", table(rng, 60))
        for old, new, words in (
                ("[13]", "[12]", "field dense: shard day-0, column dense: the "
                 "shape of its rows is [13], the field's [12]"),
                ("from: price", "from: prize", "field price: shard day-0 has "
                 "no column prize; it has click, dense, ids, price"),
                ("from: click", "from: price", "field click: shard day-0, "
                 "column price: its dtype is float64; a label is made of whole "
                 "numbers")):
            pipeline = self.pipeline(FIELDS.replace(old, new))
            pull = self.cluster.pull_alone(pipeline, "--epochs", 1)
            pull.finish(code=None)
            self.assertNotEqual(pull.process.returncode, 0)
            self.assertIn(words, pull.error)
            plan = self.run_forebay("plan", "-p", pipeline)
            self.assertEqual(plan.returncode, 1)
            self.assertIn(words, plan.stderr)

    def test_a_file_cut_short_during_a_run_ends_it_by_name(self):
        self.days((60000, 9, 9))
        pipeline = self.pipeline(batch=128)
        pull = self.cluster.pull_alone(
            pipeline, "--epochs", 1000, watched=True)
        pull.steps(20)
        os.truncate(self.cluster.path("rec") / "day-0" / "dense.npy", 4096)
        pull.finish(code=None, deadline_s=harness.DEADLINE)
        self.assertEqual(pull.process.returncode, 1, pull.error)
        self.assertIn("field dense: column dense: was cut short", pull.error)
        self.assertNotIn("WORKER-LOST", pull.error)

    def test_bytes_are_hashed_once_and_again_when_a_file_changed(self):
        self.days()
        pipeline = self.pipeline()
        first = self.run_forebay("index", "-p", pipeline, "--hash").stdout
        self.assertIn("1002 samples in 3 shards (0 known before)", first)
        again = self.run_forebay("index", "-p", pipeline).stdout
        self.assertEqual(again, first.replace("(0 known", "(3 known"))
        path = self.cluster.path("rec") / "day-0" / "price.npy"
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
        changed = self.run_forebay("index", "-p", pipeline).stdout
        self.assertIn("(2 known before)", changed)
        self.assertNotEqual(first.split("digest")[1],
                            changed.split("digest")[1])

    def test_init_writes_a_pipeline_that_works_at_once(self):
        right = self.days((4100, 90, 90))
        subprocess.run(["rm", "-r", self.cluster.path("rec") / "day-1"],
                       check=True)
        path = self.cluster.path("init.yaml")
        made = self.run_forebay("init", self.cluster.path("rec"), "-o", path)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("found over 4100 samples in the first of 2 tables",
                      made.stderr)
        got = self.batch(path, 0)
        rows = numpy.arange(len(right["dense"]))
        kept = numpy.delete(rows, numpy.arange(4100, 4190))[got["samples"]]
        for name in ("dense", "ids", "click", "price"):
            self.assertTrue(numpy.array_equal(
                got[name], right[name][kept].astype(got[name].dtype)))

    def test_lint_and_plan_know_rows(self):
        right = self.days()
        pipeline = self.pipeline()
        plan = self.run_forebay("plan", "-p", pipeline, "--step", 3)
        number = self.batch(pipeline, 3)["samples"][0]
        local = number if number < 700 else number - 700 - (number > 700)
        self.assertTrue(plan.stdout.startswith(
            f"row 0  sample {number}  row {local} of day-"), plan.stdout)
        self.assertLess(number, len(right["dense"]))
        lint = self.run_forebay("lint", "-p", pipeline, "--json")
        self.assertEqual(lint.returncode, 0, lint.stderr)


if __name__ == "__main__":
    harness.main()
