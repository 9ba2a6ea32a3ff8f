# SPDX-License-Identifier: Apache-2.0
"""Sparse rows: a consumer gets what NumPy makes of the same indices and values,
and for files written by SciPy (tests/golden/sparse_files) SciPy's matrix."""

import io
import pathlib

import harness
import numpy
import ragged

from ragged import BATCH, SAMPLES

WRITTEN = pathlib.Path(__file__).parents[1] / "golden" / "sparse_files"

SHAPES = {"words": (70_000,), "clicks": (300,), "flags": (200,),
          "image": (12, 20), "cube": (3, 4, 5, 6)}
MOST = {"words": 60, "clicks": 300, "flags": 9, "image": 40, "cube": 7}
WIRE = {"words": "f32", "clicks": "u16", "flags": "u8", "image": "f16",
        "cube": "i64"}
TYPES = {"f32": "f4", "u16": "u2", "u8": "u1", "f16": "f2", "i64": "i8",
         "i32": "i4"}
DENSE = {"words": "{as: dense}", "clicks": "{dtype: i32}", "flags": "{}",
         "image": "{dtype: f32}", "cube": "{as: dense}"}
CSR = {"words": "{as: csr}", "clicks": "{as: csr, offsets: i64, dtype: f32}",
       "flags": "{as: csr, dtype: i64}", "image": "{as: coo, dtype: f32}",
       "cube": "{as: coo}"}
COO = {name: "{as: coo}" for name in SHAPES}


def fields(out):
    return "".join(
        f"  {name}: {{from: {name}.npz, decode: sparse, "
        f"shape: {list(SHAPES[name])}, max_length: {MOST[name]}, "
        f"wire: {WIRE[name]}, out: {out[name]}}}\n" for name in SHAPES)


def save(members, compressed):
    out = io.BytesIO()
    (numpy.savez_compressed if compressed else numpy.savez)(out, **members)
    return out.getvalue()


def npz(name, at, values, number):
    """The four ways in turn: CSR and COO, stored and deflated."""
    rng = numpy.random.default_rng(number)
    shape, compressed = SHAPES[name], number % 2 == 1
    dense = int(numpy.prod(shape))
    shape = shape if len(shape) == 2 and number % 3 else (1, dense)
    order = rng.permutation(len(at))
    rows, columns = (x.astype("i4") for x in divmod(at, shape[1]))
    if number % 4 < 2:
        ends = numpy.searchsorted(rows, numpy.arange(shape[0] + 1))
        if shape[0] > 1:
            order = numpy.arange(len(at))
        return save({"indices": columns[order], "indptr": ends.astype("i4"),
                     "format": b"csr", "shape": shape,
                     "data": values[order].astype("f8")}, compressed)
    return save({"row": rows[order], "col": columns[order], "format": b"coo",
                 "shape": shape, "data": values[order]}, compressed)


class Sparse(ragged.RaggedTest):
    WHOLE = fields(DENSE)
    PARTS = fields(CSR)
    CODED = ("wire: i64", "wire: {type: i64, filter: byte_shuffle, codec: lz4}")
    OFFSETS = "flags.offsets"

    def sample(self, number):
        """The flat indices and values of each row; some rows are empty,
        some of maximum length, and some hold zeros."""
        rng = numpy.random.default_rng(number)
        rows = {}
        for name, shape in SHAPES.items():
            most, dense = MOST[name], int(numpy.prod(shape))
            n = ((0, most)[number % 4] if number % 4 < 2
                 else int(rng.integers(0, most + 1)))
            n = 0 if 16 <= number < 20 else n
            at = numpy.sort(rng.choice(dense, n, replace=False))
            values = rng.integers(0, 200, n).astype(TYPES[WIRE[name]])
            rows[name] = at, values
        return rows

    def members(self, number):
        return {f"{name}.npz": npz(name, *row, number)
                for name, row in self.sample(number).items()}

    def assert_coo(self, arrays, name, rows, dtype):
        numbers = numpy.repeat(numpy.arange(len(rows)),
                               [len(at) for at, _ in rows])
        at = numpy.concatenate([at for at, _ in rows])
        places = numpy.stack(
            [numbers, *numpy.unravel_index(at, SHAPES[name])])
        self.assert_equal(arrays[name + ".indices"], places.astype("i8"))
        self.assert_equal(arrays[name], numpy.concatenate(
            [values for _, values in rows]).astype(dtype))

    def test_dense_rows_have_all_their_zeros(self):
        types = {"words": "f4", "clicks": "i4", "flags": "u1", "image": "f4",
                 "cube": "i8"}
        for arrays, right in self.batches(self.pipeline(self.WHOLE)):
            for name, rows in right.items():
                dense = numpy.zeros(
                    (len(rows), int(numpy.prod(SHAPES[name]))), types[name])
                for i, (at, values) in enumerate(rows):
                    dense[i, at] = values
                self.assert_equal(arrays[name], dense.reshape(
                    (len(rows),) + SHAPES[name]))
                self.assertNotIn(name + ".indices", arrays)

    def test_csr_and_coo_hand_out_what_there_is(self):
        types = {"words": ("f4", "i4"), "clicks": ("f4", "i8"),
                 "flags": ("i8", "i4")}
        for arrays, right in self.batches(self.pipeline(self.PARTS)):
            for name, (dtype, offsets) in types.items():
                rows = right[name]
                ends = numpy.cumsum([0] + [len(at) for at, _ in rows])
                self.assert_equal(
                    arrays[name + ".offsets"], ends.astype(offsets))
                self.assert_equal(arrays[name + ".indices"], numpy.concatenate(
                    [at for at, _ in rows]).astype(offsets))
                self.assert_equal(arrays[name], numpy.concatenate(
                    [values for _, values in rows]).astype(dtype))
            self.assert_coo(arrays, "image", right["image"], "f4")
            self.assert_coo(arrays, "cube", right["cube"], "i8")

    def test_every_shape_can_be_coo(self):
        for arrays, right in self.batches(self.pipeline(fields(COO))):
            for name, rows in right.items():
                self.assert_coo(arrays, name, rows, TYPES[WIRE[name]])

    def test_bad_rows_are_substituted_by_name(self):
        def coo(row, col, **more):
            return save({"row": row, "col": col, "data": numpy.ones(len(row)),
                         "format": b"coo", "shape": (1, 300), **more}, True)

        def change(number, members):
            if number == 7:
                members["clicks.npz"] = coo([0, 0], [5, 300])
            if number == 20:
                members["clicks.npz"] = coo([0, 0, 0], [5, 9, 5])
            if number == 33:
                members["words.npz"] = save({
                    "indices": [1, 2], "indptr": [0, 3], "format": b"csr",
                    "shape": (1, 70_000), "data": [1., 2.]}, False)
            if number == 40:
                members["flags.npz"] = coo(
                    [0] * 10, list(range(10)), shape=(1, 200))
            if number == 41:
                members["image.npz"] = members["image.npz"][:-30]
        self.assert_substituted(
            self.pipeline(self.WHOLE, change=change), 5,
            "field clicks: index 300 is beyond the 300 of its shape",
            "field clicks: index 5 occurs twice",
            "field words: an offset is 3, but there are 2 values",
            "field flags: the row has 10 values, max_length is 9",
            "field image: the file does not end as a zip file")

    def test_only_what_there_is_travels(self):
        path = self.pipeline(self.PARTS)
        few = self.sent_once(path, "--field", "words")
        n = [len(self.sample(i)["words"][0]) for i in range(SAMPLES)]
        steps = SAMPLES // BATCH
        # Lengths of u8 and indices of u32 end at multiples of 16.
        self.assertLessEqual(
            few["raw_bytes"], 8 * sum(n) + (16 + 15) * steps)
        self.assertLessEqual(
            few["wire_bytes"], 8 * sum(n) + (16 + 15 + 64) * steps)

    def assert_written(self, source, field):
        """One batch has the rows of the matrix that SciPy wrote."""
        right = numpy.load(WRITTEN / "dense.npy")
        path = self.cluster.path("p.yaml")
        path.write_text(
            f"forebay: 1\nsplits: {{train: {{{source}}}}}\n"
            f"global_batch: {len(right)}\nfields:\n"
            f"  row: {{from: {field}, decode: sparse, shape: [300], "
            "max_length: 40, wire: u16}\n")
        arrays = self.batch(path)
        self.assert_equal(arrays["row"], right[arrays["samples"]])
        self.assertEqual(sorted(arrays["samples"]), list(range(len(right))))

    def test_files_that_scipy_wrote_are_what_it_had(self):
        root = self.cluster.path("data")
        self.cluster.tars(root, [
            {"npz": (WRITTEN / f"row-{i}.npz").read_bytes()}
            for i in range(8)])
        self.assert_written(f"shards: '{root}/*.tar'", "npz")

    def test_a_table_that_scipy_wrote_is_what_it_had(self):
        table = self.cluster.path("rec") / "day"
        table.mkdir(parents=True)
        (table / "row.npz").write_bytes((WRITTEN / "table.npz").read_bytes())
        self.assert_written(f"columns: '{table.parent}/*'", "row")


if __name__ == "__main__":
    harness.main()
