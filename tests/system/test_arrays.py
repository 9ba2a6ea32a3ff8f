# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy files: a consumer gets the arrays that NumPy stacks."""

import io
import json
import tarfile

import harness
import numpy

from harness import SystemTest

SAMPLES, BATCH = 48, 16

FIELDS = f"""\
global_batch: {BATCH}
on_bad_sample: {{do: substitute, limit: 20}}
fields:
  embedding: {{from: npy, decode: array, shape: [16, 64], wire: f16,
              out: {{dtype: f32}}}}
  depth:
    from: depth.npy
    decode: array
    shape: [24, 32]
    wire: {{type: u16, filter: delta, codec: lz4}}
    out: {{dtype: i32}}
  metres:
    from: depth.npy
    decode: array
    shape: [24, 32]
    wire: u16
    out: {{dtype: f32, scale: 0.001, offset: -2}}
  score: {{from: score.npy, decode: array, shape: [], wire: i64}}
  wide: {{from: wide.npy, decode: array, shape: [2, 3, 5, 7], wire: f32}}
  bands: {{from: wide.npy, decode: array, shape: [2, 3, 5, 7], wire: u8,
          out: {{scale: [1, 2, 3, 4, 5, 6, 7], offset: -0.5}}}}
  planes: {{from: scan.npy, decode: array, shape: [9, 5, 3], wire: u16,
           out: {{dtype: f32, layout: chw, scale: [1, 0.5, 2]}}}}
  last: {{from: scan.npy, decode: array, shape: [9, 5, 3], wire: u16,
         out: {{layout: channels_last}}}}
  brain: {{from: npy, decode: array, shape: [16, 64], wire: bf16}}
"""


def sample(number):
    """The arrays of a sample, by extension, in several dtypes and orders."""
    rng = numpy.random.default_rng(number)
    order = "<>"[number % 2]
    return {
        "npy": rng.normal(size=(16, 64)).astype(
            (order + "f4", order + "f8", order + "f2")[number % 3]),
        "depth.npy": rng.integers(0, 65536, (24, 32)).astype(
            (order + "u2", order + "i8")[number // 2 % 2]),
        "score.npy": numpy.array(number - 20, order + "i2"),
        "wide.npy": rng.random((2, 3, 5, 7)) > 0.5,
        "scan.npy": rng.integers(0, 65536, (9, 5, 3)).astype(order + "u2"),
    }


def file_of(array, number=0):
    out = io.BytesIO()
    numpy.lib.format.write_array(
        out, array, ((1, 0), (2, 0), (3, 0))[number % 3])
    return out.getvalue()


class Arrays(SystemTest):
    def pipeline(self, source, fields=FIELDS, name="p.yaml"):
        path = self.cluster.path(name)
        path.write_text(f"forebay: 1\nsplits: {{train: {{{source}}}}}\n"
                        + fields)
        return path

    def shards(self, change=lambda number, arrays: None):
        """Three of them; `change` may damage a sample."""
        root = self.cluster.path("data")
        root.mkdir()
        for first in range(0, SAMPLES, 16):
            with tarfile.open(root / f"{first:03}.tar", "w") as tar:
                for number in range(first, first + 16):
                    arrays = sample(number)
                    change(number, arrays)
                    for extension, array in arrays.items():
                        data = file_of(array, number)
                        member = tarfile.TarInfo(f"{number:04}.{extension}")
                        member.size = len(data)
                        tar.addfile(member, io.BytesIO(data))
        return f"shards: '{root}/*.tar'"

    def folder(self):
        root = self.cluster.path("folders")
        for number in range(SAMPLES):
            folder = root / f"c{number // 16}"
            folder.mkdir(parents=True, exist_ok=True)
            for extension, array in sample(number).items():
                (folder / f"{number:04}.{extension}").write_bytes(
                    file_of(array, number))
        return f"folder: {root}"

    def check_batches(self, pipeline):
        seen = set()
        for arrays in self.first_batches(pipeline, SAMPLES // BATCH):
            numbers = arrays["samples"].tolist()
            rows = [sample(number) for number in numbers]
            right = {extension: [row[extension] for row in rows]
                     for extension in rows[0]}
            halves = [row.astype("f2") for row in right["npy"]]
            self.assert_equal(
                arrays["embedding"], numpy.stack(halves).astype("f4"))
            self.assert_equal(
                arrays["depth"], numpy.stack(right["depth.npy"]).astype("i4"))
            metres = numpy.stack(right["depth.npy"]).astype("f4")
            self.assert_equal(
                arrays["metres"], metres * numpy.float32(0.001)
                + numpy.float32(-2))
            self.assert_equal(
                arrays["score"], numpy.stack(right["score.npy"]).astype("i8"))
            self.assert_equal(
                arrays["wide"], numpy.stack(right["wide.npy"]).astype("f4"))
            self.assert_equal(
                arrays["bands"], arrays["wide"] * numpy.arange(1, 8, dtype="f4")
                - numpy.float32(0.5))
            scans = numpy.stack(right["scan.npy"]).transpose(0, 3, 1, 2)
            self.assert_equal(arrays["last"], scans.astype("u2"))
            factors = numpy.array([1, 0.5, 2], "f4").reshape(3, 1, 1)
            self.assert_equal(arrays["planes"], scans.astype("f4") * factors)
            brain = (arrays["brain"].astype("u4") << 16).view("f4")
            exact = numpy.stack([row.astype("f8") for row in right["npy"]])
            self.assertTrue(
                (numpy.abs(brain - exact) <= numpy.abs(exact) / 256).all())
            seen.update(numbers)
        self.assertEqual(seen, set(range(SAMPLES)))

    def test_arrays_of_shards_are_what_numpy_stacks(self):
        self.check_batches(self.pipeline(self.shards()))

    def test_arrays_of_class_folders_are_what_numpy_stacks(self):
        self.check_batches(self.pipeline(self.folder()))

    def test_rows_larger_than_a_chunk_arrive_whole(self):
        root = self.cluster.path("large")
        (root / "all").mkdir(parents=True)
        rng = numpy.random.default_rng(1)
        arrays = {"a": rng.random((600, 1000), "f4"),
                  "b": rng.random(700000, "f4"),
                  "c": rng.random((70, 90, 101), "f4")}
        fields = "global_batch: 3\nfields:\n"
        for name, array in arrays.items():
            fields += (f"  {name}: {{from: {name}.npy, decode: array, shape: "
                       f"{list(array.shape)}, wire: f32}}\n")
        for i in range(3):
            for name, array in arrays.items():
                numpy.save(root / "all" / f"{i}.{name}.npy", array + i)
        batch = self.batch(self.pipeline(f"folder: {root}", fields), 0)
        for name, array in arrays.items():
            rows = [array + int(i) for i in batch["samples"]]
            self.assert_equal(batch[name], numpy.stack(rows))

    def test_one_stream_for_any_coding_and_any_workers(self):
        source = self.shards()
        pipeline = self.pipeline(source)
        other = self.pipeline(source, FIELDS.replace(
            "{type: u16, filter: delta, codec: lz4}", "u16").replace(
            "wire: f16", "wire: {type: f16, filter: byte_shuffle, codec: lz4}"),
            "other.yaml")
        self.assert_one_stream(
            pipeline, (pipeline, "--workers", 3), (other, "--workers", 2),
            head=1)

    def test_lint_finds_types_that_are_wider_than_their_values(self):
        pipeline = self.pipeline(self.shards())
        shown = self.forebay("lint", "-p", pipeline, "--json")
        types = {finding["field"]: finding["write"]
                 for finding in json.loads(shown)["findings"]
                 if finding["kind"] == "wire-type"}
        self.assertEqual(sorted(types), ["score", "wide"])
        self.assertIn("wire: i32", types["score"])
        self.assertIn("wire: u8", types["wide"])

    def test_bad_files_are_substituted_and_named(self):
        def damage(number, arrays):
            if number == 7:
                arrays["depth.npy"] = arrays["depth.npy"][:, :31]
            if number == 20:
                arrays["depth.npy"] = arrays["depth.npy"].astype("i8") + 1
                arrays["depth.npy"][3, 4] = 70000
            if number == 33:
                arrays["npy"] = arrays["npy"].T

        pipeline = self.pipeline(self.shards(damage))
        pull = self.cluster.pull_alone(pipeline, "--epochs", 1)
        result = pull.finish()
        self.assertEqual(result["substituted"], 3)
        for words in ("its shape is [24, 31], the field's [24, 32]",
                      "value 100 is 70000 (int64), which wire type u16 cannot",
                      "its shape is [64, 16], the field's [16, 64]"):
            self.assertIn(words, pull.error)


if __name__ == "__main__":
    harness.main()
