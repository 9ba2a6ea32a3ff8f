"""Columns in SciPy's CSR files: what a consumer gets is what NumPy makes of the
same rows (test_sparse.py has files that SciPy wrote itself)."""

import io
import os
import zipfile

import harness
import numpy

from harness import SystemTest

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
    """data, indices and indptr; rows are empty, or as long as may be."""
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


class SparseColumns(SystemTest):
    def days(self):
        tables = [Table(1, 700), Table(2, 1, "Tokens", ("<i8", "<i4")),
                  Table(3, 301, sorted_rows=False)]
        for i, table in enumerate(tables):
            table.save(self.cluster.path("rec") / f"day-{i}")
        return self.all_rows(tables)

    def all_rows(self, tables):
        return {
            "words": [row for table in tables for row in table.rows()],
            **{name: numpy.concatenate([t.columns[name] for t in tables])
               for name in ("dense", "click")}}

    def pipeline(self, fields=FIELDS, **others):
        return self.cluster.of_tables(fields, **others)

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

    def test_rows_are_those_of_the_matrix(self):
        rows = self.days()
        for i, keys in enumerate((
                "shuffle: full, last: pad", "shuffle: none, last: pad",
                "shuffle: {block: 1}, last: pad")):
            pipeline = self.pipeline(name=f"p{i}.yaml", batch=250, keys=keys)
            seen = []
            for step in range(5):
                got = self.batch(pipeline, step)
                self.check_batch(got, rows)
                seen.extend(got["samples"][:1002 - step * 250])
            self.assertEqual(sorted(seen), list(range(1002)))

    def test_dense_and_csr_are_the_matrix_again(self):
        table = Table(5, 90)
        table.save(self.cluster.path("rec") / "day-0")
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
            table.save(self.cluster.path("rec") / "day-0")
            self.check_batch(self.batch(self.pipeline(batch=40), 0),
                             self.all_rows([table]))

    def test_one_stream_on_one_and_two_workers_and_resumed(self):
        self.days()
        pipeline = self.pipeline(batch=100)
        one = self.cluster.pull_alone(
            pipeline, "--workers", 1, "--epochs", 2)
        two = self.cluster.pull_alone(
            pipeline, "--workers", 2, "--epochs", 2, "--audit", 1)
        begun = self.cluster.pull_alone(pipeline, "--workers", 2, "--steps", 7)
        self.assertEqual(one.finish()["digest"], two.finish()["digest"])
        token = begun.finish()["token"]
        rest = self.cluster.pull_alone(
            pipeline, "--workers", 1, "--epochs", 2, "--resume", token)
        rest.finish()
        self.assertEqual(begun.lines + rest.lines, one.lines)

    def save_words(self, folder="day-0", **more):
        table = Table(7, 60)
        table.save(self.cluster.path("rec") / folder)
        numpy.savez(self.cluster.path("rec") / folder / "words.npz",
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
        folder = self.cluster.path("rec") / "day-0"
        table.save(folder)
        numpy.savez(folder / "words.npz", **members(*table.matrix))
        pull = self.cluster.pull_alone(
            self.pipeline(batch=600), "--epochs", 1)
        self.assertEqual(pull.finish()["substituted"], 9)
        for words in (
                "row 10 (sample 10): field words: index 5000 is beyond the "
                "5000 values of its shape",
                "row 20 (sample 20): field words: index -1 is beyond the 5000",
                "row 30 (sample 30): field words: index 0 stands there twice",
                "row 40 (sample 40): field words: value 0 is 1000000 (float64), "
                "which wire type f16 cannot hold",
                "row 77 (sample 77): field words: the row has 31 values, "
                "max_length is 30; raise it",
                "row 400 (sample 400): field words: its offsets go back, from "
                f"{good + 7} to {good}",
                "row 499 (sample 499): field words: its offsets are "
                f"{indptr[499]} and 5000; words has 1828 entries",
                "row 500 (sample 500): field words: its offsets go back, from "
                "5000 to"):
            self.assertIn(words, pull.error)

    def refuses(self, words, **more):
        self.save_words(**more)
        shown = self.run_forebay("index", "-p", self.pipeline())
        self.assertNotEqual(shown.returncode, 0)
        self.assertIn(words, shown.stderr)

    def test_files_that_are_none_are_refused_by_name(self):
        data, indices, indptr = Table(7, 60).matrix
        n = len(data)
        self.refuses(f"words.npz: its data.npy has {n} values, its "
                     f"indices.npy {n - 1}", indices=indices[1:])
        self.refuses("words.npz: its indptr.npy has 60 offsets, of 60 rows 61 "
                     "are right", indptr=indptr[1:])
        self.refuses("words.npz: it has 59 rows, and column click has 60",
                     indptr=indptr[:60], shape=(59, WIDTH))
        self.refuses(f"its indptr.npy goes from 0 to {n + 1}; it is to begin "
                     f"at 0, and there are {n} values",
                     indptr=[*indptr[:-1], n + 1])
        self.refuses(f"its indptr.npy goes from 1 to {n}",
                     indptr=[1, *indptr[1:]])
        self.refuses("words.npz: indices.npy: it is of float64; whole numbers are "
                     "right", indices=indices.astype("f8"))
        self.refuses("words.npz: data.npy: it has 2 dimensions; one is right",
                     data=data.reshape(-1, 1))
        self.refuses("words.npz: its shape has 3 dimensions; 2 are "
                     "right", shape=(60, 50, 100))
        self.refuses("words.npz: format.npy: it is saved as csc; rows can be "
                     "read of tocsr() only", format=b"csc")

    def test_compressed_and_damaged_files_are_refused_by_name(self):
        self.save_words()
        path = self.cluster.path("rec") / "day-0" / "words.npz"
        whole = path.read_bytes()
        numpy.savez_compressed(path, **members(*Table(7, 60).matrix))
        index = ("index", "-p", self.pipeline())
        self.assertIn(
            "words.npz: format.npy: it is compressed, so its rows cannot be "
            "read where they lie", self.run_forebay(*index).stderr)
        path.write_bytes(whole[:-9])
        self.assertIn("words.npz: it does not end as a zip file",
                      self.run_forebay(*index).stderr)
        with zipfile.ZipFile(io.BytesIO(whole)) as old, \
                zipfile.ZipFile(path, "w") as new:
            for member in old.namelist():
                if member != "indptr.npy":
                    new.writestr(member, old.read(member))
        self.assertIn("words.npz: indptr.npy: it is not there; save_npz "
                      "writes it", self.run_forebay(*index).stderr)

    def test_other_npz_files_are_passed_over(self):
        self.save_words()
        index = ("index", "-p", self.pipeline())
        before = self.run_forebay(*index).stdout
        numpy.savez(self.cluster.path("rec") / "day-0" / "notes.npz",
                    thing=numpy.zeros(3))
        self.assertEqual(self.run_forebay(*index).stdout, before)

    def test_fields_that_do_not_fit_a_column_are_refused_at_open(self):
        self.save_words()
        for old, new, words in (
                ("[50, 100]", "[50, 99]", "field words: shard day-0, column "
                 "words: its rows have 5000 values, those of the field's "
                 "shape 4950"),
                ("from: dense", "from: words", "field dense: shard day-0: "
                 "column words is sparse; say decode: sparse, and a "
                 "max_length"),
                ("[words, tokens]", "dense", "field words: shard day-0: "
                 "column dense has rows of one shape; say decode: array")):
            pull = self.cluster.pull_alone(
                self.pipeline(FIELDS.replace(old, new)), "--epochs", 1)
            pull.finish(code=None)
            self.assertNotEqual(pull.process.returncode, 0)
            self.assertIn(words, pull.error)

    def test_a_file_cut_short_during_a_run_ends_it_by_name(self):
        Table(1, 60000).save(self.cluster.path("rec") / "day-0")
        pull = self.cluster.pull_alone(
            self.pipeline(batch=128), "--epochs", 1000, watched=True)
        pull.steps(20)
        os.truncate(self.cluster.path("rec") / "day-0" / "words.npz", 4096)
        pull.finish(code=None, deadline_s=harness.DEADLINE)
        self.assertEqual(pull.process.returncode, 1, pull.error)
        self.assertIn("field words: column words: was cut short", pull.error)
        self.assertNotIn("WORKER-LOST", pull.error)

    def test_a_changed_file_is_hashed_again(self):
        self.days()
        pipeline = self.pipeline()
        first = self.run_forebay("index", "-p", pipeline, "--hash").stdout
        again = self.run_forebay("index", "-p", pipeline).stdout
        self.assertEqual(again, first.replace("(0 known", "(3 known"))
        path = self.cluster.path("rec") / "day-0" / "words.npz"
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        changed = self.run_forebay("index", "-p", pipeline).stdout
        self.assertIn("(2 known before)", changed)
        self.assertNotEqual(first.split("digest")[1],
                            changed.split("digest")[1])

    def test_init_writes_a_pipeline_that_works_at_once(self):
        table = Table(8, 4100)
        table.save(self.cluster.path("rec") / "day-0")
        path = self.cluster.path("init.yaml")
        made = self.run_forebay("init", self.cluster.path("rec"), "-o", path)
        self.assertEqual(made.returncode, 0, made.stderr)
        got = self.batch(path, 0)
        rows = list(table.rows())
        for row, number in zip(got["words"], got["samples"]):
            right = numpy.zeros(WIDTH, got["words"].dtype)
            right[rows[number][0]] = rows[number][1]
            self.assertTrue(numpy.array_equal(row, right))

    def test_lint_and_the_sheet_cope(self):
        self.days()
        lint = self.run_forebay("lint", "-p", self.pipeline(), "--json")
        self.assertEqual(lint.returncode, 0, lint.stderr)
        sheet = self.cluster.path("sheet.png")
        shown = self.run_forebay("show", "-p", self.pipeline(), "-o", sheet)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertTrue(sheet.read_bytes().startswith(b"\x89PNG"))


if __name__ == "__main__":
    harness.main()
