# SPDX-License-Identifier: Apache-2.0
"""Ragged columns of NumPy files: a consumer gets the rows that NumPy reads."""

import shutil

import harness
import numpy
import tables

OFFSETS = ["i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u4", "<i8", ">u8"]

FIELDS = """\
global_batch: {batch}
on_bad_sample: {do: substitute, limit: 100}
fields:
  dense: {from: dense, decode: array, shape: [3], wire: f32}
  ids:
    {from: [ids, other], decode: array, shape: [], max_length: 40, wire: i32,
     out: {as: ragged, dtype: i64, offsets: i64}}
  boxes:
    {from: boxes, decode: array, shape: [4], max_length: 9, wire: f16,
     out: {pad: -1}}
  click: {from: click, decode: label, classes: 2, out: {dtype: u8}}
"""


def lists(rng, rows, longest):
    """Lengths of lists; some are empty and some of maximum length."""
    lengths = rng.integers(0, longest + 1, rows)
    lengths[rng.random(rows) < 0.2] = 0
    lengths[rng.random(rows) < 0.1] = longest
    return lengths


def ragged(name, lengths, values, offsets="<i8", first=0):
    """The two columns of rows; the `first` entries belong to no row."""
    ends = numpy.cumsum([first] + list(lengths))
    spare = numpy.ones((first + 2,) + values.shape[1:], values.dtype)
    return {f"{name}.values": numpy.concatenate(
                (spare[:first], values, spare[:2])),
            f"{name}.offsets": ends.astype(offsets)}


class Table:
    """A shard's columns, and its rows."""

    def __init__(self, seed, rows, ids="<i8", offsets="<i8", name="ids"):
        rng = numpy.random.default_rng(seed)
        lengths = {"ids": lists(rng, rows, 40), "boxes": lists(rng, rows, 9)}
        values = {
            "ids": rng.integers(0, 2**31, sum(lengths["ids"])).astype(ids),
            "boxes": rng.normal(size=(sum(lengths["boxes"]), 4)).astype("f2")}
        self.files = {"dense": rng.normal(size=(rows, 3)).astype("f4"),
                      "click": rng.integers(0, 2, rows).astype("u1")}
        self.files |= ragged(name, lengths["ids"], values["ids"], offsets, 5)
        self.files |= ragged(
            "boxes", lengths["boxes"], values["boxes"], ">i4")
        self.rows = {key: numpy.split(values[key], numpy.cumsum(n)[:-1])
                     for key, n in lengths.items()}
        self.rows |= {key: list(self.files[key]) for key in ("dense", "click")}


class RaggedColumns(tables.TableTest):
    FIELDS = FIELDS
    FILE = "ids.offsets.npy"
    CUT = "field ids: column ids.offsets"

    def days(self, rows=(700, 1, 301)):
        days = [Table(1, rows[0]), Table(2, rows[1], ">i4", ">u2", "other"),
                Table(3, rows[2], "<i4", "<u4")]
        for name, table in zip(("day-0", "day-1", "day-2.npz"), days):
            self.cluster.table(name, table.files)
        return {key: sum((table.rows[key] for table in days), [])
                for key in days[0].rows}

    def check_batch(self, got, rows):
        numbers = got["samples"]
        for key, dtype in (("dense", "f4"), ("click", "u1")):
            self.assert_equal(got[key], numpy.array(
                [rows[key][i] for i in numbers], dtype))
        ids = [rows["ids"][i] for i in numbers]
        self.assert_equal(got["ids"], numpy.concatenate(ids).astype("i8"))
        self.assert_equal(got["ids.offsets"], numpy.cumsum(
            [0] + [len(row) for row in ids]).astype("i8"))
        boxes = numpy.full((len(numbers), 9, 4), -1, "f2")
        for i, number in enumerate(numbers):
            boxes[i, :len(rows["boxes"][number])] = rows["boxes"][number]
        self.assert_equal(got["boxes"], boxes)

    def test_offsets_may_be_of_every_type(self):
        for offsets in OFFSETS:
            table = Table(4, 9, offsets=offsets)
            for key in ("ids.values", "ids.offsets"):  # the range of i1
                table.files[key] = table.files[key][:126]
            lengths = numpy.array([10, 0, 20, 3, 0, 40, 1, 9, 30])
            table.files |= ragged(
                "ids", lengths, numpy.arange(113, dtype="<u2"), offsets, 5)
            table.rows["ids"] = numpy.split(
                numpy.arange(113), numpy.cumsum(lengths)[:-1])
            self.cluster.table("day-0", table.files)
            self.check_batch(self.batch(self.pipeline(), 0), table.rows)

    def test_bad_rows_are_substituted_by_row_and_named(self):
        table = Table(5, 600)
        lengths = numpy.full(600, 3)
        lengths[77] = 41
        ids = ragged("ids", lengths, numpy.arange(2000)[:sum(lengths)])
        ids["ids.values"][0] = 2**31
        back = ids["ids.offsets"]
        back[400] = back[401] + 7
        back[500] = 5000
        self.cluster.table("day-0", table.files | ids)
        self.assert_substituted(
            self.pipeline(batch=600), 5,
            "row 0 (sample 0): field ids: value 0 is 2147483648 (int64), "
            "which wire type i32 cannot hold",
            "row 77 (sample 77): field ids: the row has 41 entries, "
            "max_length is 40; raise it, or say too_long: truncate",
            f"row 400 (sample 400): field ids: its offsets decrease, from "
            f"{back[400]} to {back[401]}",
            f"row 499 (sample 499): field ids: its offsets are "
            f"{back[499]} and 5000; ids.values has 1840 entries",
            "row 500 (sample 500): field ids: its offsets decrease, from "
            "5000 to")

    def test_what_is_too_long_can_be_cut(self):
        rows = self.days()
        fields = FIELDS.replace(
            "max_length: 40", "max_length: 7, too_long: truncate")
        rows["ids"] = [row[:7] for row in rows["ids"]]
        self.check_batch(
            self.batch(self.pipeline(fields, batch=900), 0), rows)

    def refuses(self, arrays, words):
        self.cluster.table("day-0", arrays)
        self.check_refused(words)
        shutil.rmtree(self.folder)

    def test_what_does_not_fit_together_is_refused_by_name(self):
        good = Table(6, 60).files
        short = dict(good)
        short["ids.values"] = short["ids.values"][:9]
        self.refuses(short, "shard day-0: ids.offsets.npy: its offsets go from "
                            f"5 to {good['ids.offsets'][-1]}; ids.values.npy "
                            "has 9 entries")
        fewer = dict(good)
        fewer["ids.offsets"] = fewer["ids.offsets"][:-1]
        self.refuses(fewer, "ids.offsets.npy: it has 59 rows (its offsets are "
                            "one more), and column boxes.offsets has 60")
        alone = dict(good)
        del alone["boxes.offsets"]
        self.refuses(alone, "boxes.values.npy has no "
                            "boxes.offsets.npy beside it; a ragged column "
                            "is both")
        reals = dict(good)
        reals["ids.offsets"] = reals["ids.offsets"].astype("f8")
        self.refuses(reals, "ids.offsets.npy: its rows are [] of float64; "
                            "offsets are whole numbers in one dimension")

    def test_fields_that_do_not_fit_a_column_are_refused_at_open(self):
        self.cluster.table("day-0", Table(7, 60).files)
        self.check_fields_refused(
            ("shape: [4]", "shape: [5]", "field boxes: shard day-0, column "
             "boxes.values: the shape of its entries is [4], the field's [5]"),
            ("from: dense, decode: array, shape: [3]",
             "from: boxes, decode: array, shape: [4]",
             "field dense: shard day-0: column boxes is ragged; say the "
             "max_length of its rows"),
            ("[ids, other]", "dense", "field ids: shard day-0: column dense "
             "has rows of one shape; leave out max_length"))

    def test_init_writes_a_pipeline_that_works_at_once(self):
        table = Table(8, 4100)
        self.cluster.table("day-0", table.files)
        got = self.batch(self.guess()[0], 0)
        numbers = got["samples"]
        self.assert_equal(got["ids.lengths"], numpy.array(
            [len(table.rows["ids"][i]) for i in numbers], "i4"))
        for row, number in zip(got["ids"], numbers):
            right = table.rows["ids"][number]
            self.assertTrue(numpy.array_equal(row[:len(right)], right))

if __name__ == "__main__":
    harness.main()
