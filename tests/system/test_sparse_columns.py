# SPDX-License-Identifier: Apache-2.0
"""Columns in SciPy's CSR files: a consumer gets what NumPy makes of the same
rows (test_sparse.py has files that SciPy wrote itself)."""

import io
import zipfile

import harness
import numpy
import tables

WIDTH, MOST = 5000, 30
NUMBERS = [("<i4", "<i4"), ("<i8", "<i4"), (">i4", ">i8"), ("<u2", "<u4"),
           ("<u8", "<u8")]

FIELDS = """\
global_batch: {batch}
on_bad_sample: {do: substitute, limit: 100}
fields:
  dense: {from: dense, decode: array, shape: [3], wire: f32}
  words:
    {from: [words, tokens], decode: sparse, shape: [50, 100], max_length: 30,
     wire: f16, out: {as: coo, dtype: f32}}
  click: {from: click, decode: label, classes: 2, out: {dtype: u8}}
"""


def matrix(rng, rows, sorted_rows=True):
    """data, indices and indptr; some rows are empty, some of maximum length."""
    lengths = rng.integers(0, MOST + 1, rows)
    lengths[rng.random(rows) < 0.2] = 0
    lengths[rng.random(rows) < 0.1] = MOST
    indices = [rng.choice(WIDTH, n, replace=False) for n in lengths]
    if sorted_rows:
        indices = [numpy.sort(row) for row in indices]
    values = rng.integers(-500, 500, sum(lengths)) / 4
    return values, numpy.concatenate(indices), numpy.cumsum([0, *lengths])


def members(data, indices, indptr, width=WIDTH, **more):
    return {"indices": indices, "indptr": indptr, "format": b"csr",
            "shape": (len(indptr) - 1, width), "data": data, **more}


class Table:
    """A shard's columns, and its rows."""

    def __init__(self, seed, rows, name="words", numbers=("<i4", "<i4"),
                 sorted_rows=True):
        rng = numpy.random.default_rng(seed)
        self.name = name
        data, indices, indptr = matrix(rng, rows, sorted_rows)
        self.matrix = (data.astype("f4" if seed % 2 else "f8"),
                       indices.astype(numbers[0]), indptr.astype(numbers[1]))
        self.columns = {"dense": rng.normal(size=(rows, 3)).astype("f4"),
                        "click": rng.integers(0, 2, rows).astype("u1")}

    def save(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in self.columns.items():
            numpy.save(folder / f"{name}.npy", array)
        numpy.savez(folder / f"{self.name}.npz", **members(*self.matrix))

    def rows(self):
        data, indices, indptr = self.matrix
        for first, end in zip(indptr[:-1], indptr[1:]):
            order = numpy.argsort(indices[int(first):int(end)])
            yield (indices[int(first):int(end)][order].astype("i8"),
                   data[int(first):int(end)][order])


class SparseColumns(tables.TableTest):
    FIELDS = FIELDS
    FILE = "words.npz"
    CUT = "field words: column words"

    def days(self, rows=(700, 1, 301)):
        days = [Table(1, rows[0]), Table(2, rows[1], "Tokens", ("<i8", "<i4")),
                Table(3, rows[2], sorted_rows=False)]
        for i, table in enumerate(days):
            table.save(self.folder / f"day-{i}")
        return self.all_rows(days)

    def all_rows(self, days):
        return {
            "words": [row for table in days for row in table.rows()],
            **{name: numpy.concatenate([t.columns[name] for t in days])
               for name in ("dense", "click")}}

    def check_batch(self, got, rows):
        numbers = got["samples"]
        self.assert_equal(got["dense"], rows["dense"][numbers])
        self.assert_equal(got["click"], rows["click"][numbers])
        words = [rows["words"][i] for i in numbers]
        row = numpy.repeat(
            numpy.arange(len(words)), [len(at) for at, _ in words])
        at = numpy.concatenate([at for at, _ in words])
        self.assert_equal(got["words.indices"], numpy.stack(
            [row, at // 100, at % 100]).astype("i8"))
        self.assert_equal(got["words"], numpy.concatenate(
            [values for _, values in words]).astype("f2").astype("f4"))

    def test_dense_and_csr_are_the_matrix_again(self):
        table = Table(5, 90)
        table.save(self.folder / "day-0")
        right = numpy.zeros((90, WIDTH), "f4")
        for i, (at, values) in enumerate(table.rows()):
            right[i, at] = values
        for out in ("{as: csr, dtype: f32, offsets: i64}", "{dtype: f32}"):
            fields = FIELDS.replace("[50, 100]", "[5000]").replace(
                "{as: coo, dtype: f32}", out)
            got = self.batch(self.pipeline(fields, batch=90), 0)
            dense = got["words"]
            if "csr" in out:
                dense = numpy.zeros((90, WIDTH), "f4")
                ends = got["words.offsets"]
                for i in range(90):
                    here = slice(ends[i], ends[i + 1])
                    dense[i, got["words.indices"][here]] = got["words"][here]
            self.assert_equal(
                dense.reshape(90, WIDTH), right[got["samples"]])

    def test_indices_and_offsets_may_be_of_every_type(self):
        for numbers in NUMBERS:
            table = Table(6, 40, numbers=numbers)
            table.save(self.folder / "day-0")
            self.check_batch(self.batch(self.pipeline(batch=40), 0),
                             self.all_rows([table]))

    def save_words(self, folder="day-0", **more):
        table = Table(7, 60)
        table.save(self.folder / folder)
        numpy.savez(self.folder / folder / "words.npz",
                    **{**members(*table.matrix), **more})
        return table

    def test_bad_rows_are_substituted_by_row_and_named(self):
        lengths = numpy.full(600, 3)
        lengths[77] = 31
        indptr = numpy.cumsum([0, *lengths])
        indices = numpy.concatenate([numpy.arange(n) for n in lengths])
        indices[indptr[10]] = WIDTH
        indices[indptr[20] + 2] = -1
        indices[indptr[30] + 1] = 0
        data = numpy.ones(len(indices))
        data[indptr[40]] = 1e6
        good = int(indptr[401])
        indptr[400] = good + 7
        indptr[500] = 5000
        table = Table(5, 600)
        table.matrix = data, indices, indptr
        folder = self.folder / "day-0"
        table.save(folder)
        numpy.savez(folder / "words.npz", **members(*table.matrix))
        self.assert_substituted(
            self.pipeline(batch=600), 9,
            "row 10 (sample 10): field words: index 5000 is beyond the "
            "5000 values of its shape",
            "row 20 (sample 20): field words: index -1 is beyond the 5000",
            "row 30 (sample 30): field words: index 0 occurs twice",
            "row 40 (sample 40): field words: value 0 is 1000000 (float64), "
            "which wire type f16 cannot hold",
            "row 77 (sample 77): field words: the row has 31 values, "
            "max_length is 30; raise it",
            "row 400 (sample 400): field words: its offsets decrease, from "
            f"{good + 7} to {good}",
            "row 499 (sample 499): field words: its offsets are "
            f"{indptr[499]} and 5000; words has 1828 entries",
            "row 500 (sample 500): field words: its offsets decrease, from "
            "5000 to")

    def refuses(self, words, **more):
        self.save_words(**more)
        self.check_refused(words)

    def test_files_that_are_none_are_refused_by_name(self):
        data, indices, indptr = Table(7, 60).matrix
        n = len(data)
        self.refuses(f"words.npz: its data.npy has {n} values, its "
                     f"indices.npy {n - 1}", indices=indices[1:])
        self.refuses("words.npz: its indptr.npy has 60 offsets; 60 rows "
                     "need 61", indptr=indptr[1:])
        self.refuses("words.npz: it has 59 rows, and column click has 60",
                     indptr=indptr[:60], shape=(59, WIDTH))
        self.refuses(f"its indptr.npy goes from 0 to {n + 1}; it must begin "
                     f"at 0, and there are {n} values",
                     indptr=[*indptr[:-1], n + 1])
        self.refuses(f"its indptr.npy goes from 1 to {n}",
                     indptr=[1, *indptr[1:]])
        self.refuses("words.npz: indices.npy: it is of float64; it must be "
                     "of integers", indices=indices.astype("f8"))
        self.refuses("words.npz: data.npy: it has 2 dimensions; it must "
                     "have one",
                     data=data.reshape(-1, 1))
        self.refuses("words.npz: its shape has 3 dimensions; it must "
                     "have 2", shape=(60, 50, 100))
        self.refuses("words.npz: format.npy: it is saved as csc; save tocsr() instead", format=b"csc")

    def test_compressed_and_damaged_files_are_refused_by_name(self):
        self.save_words()
        path = self.folder / "day-0" / "words.npz"
        whole = path.read_bytes()
        numpy.savez_compressed(path, **members(*Table(7, 60).matrix))
        self.check_refused("words.npz: format.npy: it is compressed, so its "
                           "rows cannot be read in place")
        path.write_bytes(whole[:-9])
        self.check_refused("words.npz: the file does not end as a zip file")
        with zipfile.ZipFile(io.BytesIO(whole)) as old, \
                zipfile.ZipFile(path, "w") as new:
            for member in old.namelist():
                if member != "indptr.npy":
                    new.writestr(member, old.read(member))
        self.check_refused("words.npz: indptr.npy: it is missing; save_npz "
                           "writes it")

    def test_other_npz_files_are_passed_over(self):
        self.save_words()
        index = ("index", "-p", self.pipeline())
        before = self.run_forebay(*index).stdout
        numpy.savez(self.folder / "day-0" / "notes.npz",
                    thing=numpy.zeros(3))
        self.assertEqual(self.run_forebay(*index).stdout, before)

    def test_fields_that_do_not_fit_a_column_are_refused_at_open(self):
        self.save_words()
        self.check_fields_refused(
            ("[50, 100]", "[50, 99]", "field words: shard day-0, column words: "
             "its rows have 5000 values, those of the field's shape 4950"),
            ("from: dense", "from: words", "field dense: shard day-0: column "
             "words is sparse; say decode: sparse, and a max_length"),
            ("[words, tokens]", "dense", "field words: shard day-0: column "
             "dense has rows of one shape; say decode: array"))

    def test_init_writes_a_pipeline_that_works_at_once(self):
        table = Table(8, 4100)
        table.save(self.folder / "day-0")
        got = self.batch(self.guess()[0], 0)
        rows = list(table.rows())
        for row, number in zip(got["words"], got["samples"]):
            right = numpy.zeros(WIDTH, got["words"].dtype)
            right[rows[number][0]] = rows[number][1]
            self.assertTrue(numpy.array_equal(row, right))

if __name__ == "__main__":
    harness.main()
