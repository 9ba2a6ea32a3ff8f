# SPDX-License-Identifier: Apache-2.0
"""Columns of NumPy files: a consumer gets the rows that NumPy reads."""

import shutil

import harness
import numpy
import tables

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


class Columns(tables.TableTest):
    FIELDS = FIELDS
    FILE = "dense.npy"
    CUT = "field dense: column dense"

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

    def check_batch(self, got, rows):
        for name, dtype in (("dense", "f4"), ("ids", "i8"), ("click", "i8"),
                            ("price", "f4")):
            self.assert_equal(
                got[name], rows[name][got["samples"]].astype(dtype))

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

    def test_bad_rows_are_substituted_by_row_and_named(self):
        rng = numpy.random.default_rng(4)
        arrays = table(rng, 600)
        arrays["click"][17] = 3
        arrays["click"] = arrays["click"].astype("<i8")
        arrays["click"][18] = -1
        arrays["click"][19] = 2**40
        arrays["price"][400] = 1e300
        self.cluster.table("day-0", arrays)
        self.assert_substituted(
            self.pipeline(batch=600), 4,
            "row 17 (sample 17): field click: label 3 is too large: "
            "it must be 0 to 2; or raise classes",
            "row 18 (sample 18): field click: label -1 is too small: "
            "it must be 0 to 2",
            "row 19 (sample 19): field click: label 1099511627776 is "
            "too large: it must be 0 to 2; or raise classes",
            "row 400 (sample 400): field price: value 0 is 1e+300")
        got = self.batch(self.pipeline(batch=600), 0)
        self.assert_equal(got["dense"], arrays["dense"][got["samples"]])
        self.assertFalse({17, 18, 19, 400} & set(got["samples"].tolist()))

    def refuses(self, arrays, words, name="day-0"):
        self.cluster.table(name, arrays)
        self.check_refused(words)
        shutil.rmtree(self.folder)

    def test_what_is_no_table_is_refused_by_name(self):
        rng = numpy.random.default_rng(5)
        short = table(rng, 60)
        short["price"] = short["price"][:59]
        self.refuses(short, "shard day-0: price.npy: it has 59 rows, and "
                            "column click has 60; all columns of a shard have "
                            "the same number")
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
        self.folder.mkdir()
        numpy.savez_compressed(
            self.folder / "day-0.npz", dense=numpy.zeros((9, 13)))
        self.check_refused("shard day-0.npz: dense.npy: it is compressed, so "
                           "its rows cannot be read in place; save it "
                           "with np.savez")

    def test_a_name_that_is_too_long_does_not_hide_the_cause(self):
        arrays = table(numpy.random.default_rng(5), 60)
        arrays["y" * 250] = arrays["price"]
        self.cluster.table("day-0", arrays)
        pull = self.cluster.pull_alone(self.pipeline(), "--epochs", 1)
        pull.finish(code=1)
        self.assertIn("yyy.npy: a column's name has at most 63 bytes: worker",
                      pull.error)

    def test_fields_that_do_not_fit_a_column_are_refused_at_open(self):
        rng = numpy.random.default_rng(6)
        self.cluster.table("day-0", table(rng, 60))
        self.check_fields_refused(
            ("[13]", "[12]", "field dense: shard day-0, column dense: the "
             "shape of its rows is [13], the field's [12]"),
            ("from: price", "from: prize", "field price: shard day-0 has no "
             "column prize; it has click, dense, ids, price"),
            ("from: click", "from: price", "field click: shard day-0, column "
             "price: its dtype is float64; a label is made of whole numbers"))

    def test_init_writes_a_pipeline_that_works_at_once(self):
        right = self.days((4100, 90, 90))
        shutil.rmtree(self.folder / "day-1")
        path, said = self.guess()
        self.assertIn("found over 4100 samples in the first of 2 tables", said)
        got = self.batch(path, 0)
        rows = numpy.arange(len(right["dense"]))
        kept = numpy.delete(rows, numpy.arange(4100, 4190))[got["samples"]]
        for name in ("dense", "ids", "click", "price"):
            self.assertTrue(numpy.array_equal(
                got[name], right[name][kept].astype(got[name].dtype)))

    def test_plan_knows_rows(self):
        right = self.days()
        pipeline = self.pipeline()
        plan = self.run_forebay("plan", "-p", pipeline, "--step", 3)
        number = self.batch(pipeline, 3)["samples"][0]
        local = number if number < 700 else number - 700 - (number > 700)
        self.assertTrue(plan.stdout.startswith(
            f"row 0  sample {number}  row {local} of day-"), plan.stdout)
        self.assertLess(number, len(right["dense"]))


if __name__ == "__main__":
    harness.main()
