# SPDX-License-Identifier: Apache-2.0
"""Ragged rows: a consumer gets the arrays that NumPy pads and joins."""

import io
import json

import harness
import numpy
import ragged

from ragged import BATCH, SAMPLES

SOURCES = {
    "ids": "{from: ids.npy, decode: array, shape: [], max_length: 40, "
           "wire: i32",
    "boxes": "{from: boxes.npy, decode: array, shape: [4], max_length: 9, "
             "wire: f16",
    "blob": "{from: bin, decode: bytes, max_length: 300",
    "words": "{from: txt, decode: text, max_length: 64",
    "scores": "{from: json, decode: number, max_length: 5, wire: f32",
}
PADDED = {"ids": "{pad: -1}", "boxes": "{dtype: f32, to: longest, pad: 0.5}",
          "blob": "{to: longest}", "words": "{dtype: i32, pad: -7}",
          "scores": "{dtype: bf16}"}
RAGGED = {"ids": "{as: ragged, dtype: i64, offsets: i64}",
          "boxes": "{as: ragged}", "blob": "{as: ragged}",
          "words": "{as: ragged}", "scores": "{as: ragged, dtype: f16}"}


def fields(out):
    return "".join(f"  {name}: {keys}, out: {out[name]}}}\n"
                   for name, keys in SOURCES.items())


def npy(array):
    out = io.BytesIO()
    numpy.save(out, array)
    return out.getvalue()


def files(rows, number):
    newline = b"\n" if number % 3 == 0 else b""
    return {
        "ids.npy": npy(rows["ids"].astype("<i8" if number % 2 else ">i4")),
        "boxes.npy": npy(rows["boxes"].astype("f8")),
        "bin": rows["blob"].tobytes(),
        "txt": rows["words"].tobytes() + newline,
        "json": json.dumps(
            {"scores": [float(x) for x in rows["scores"]]}).encode(),
    }


def padded(rows, to, pad, dtype):
    out = numpy.full((len(rows), to) + rows[0].shape[1:], pad, dtype)
    for i, row in enumerate(rows):
        out[i, :len(row)] = row.astype(dtype)
    return out


def bf16(array):
    """Rounded to the nearest, ties to even, as 16 bits."""
    bits = array.astype("f4").view("u4").astype("u8")
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("u2")


class Ragged(ragged.RaggedTest):
    WHOLE = fields(PADDED)
    PARTS = fields(RAGGED)
    CODED = ("wire: i32", "wire: {type: i32, filter: delta, codec: lz4}")
    OFFSETS = "blob.offsets"

    def sample(self, number):
        """A sample; some rows are empty and some of maximum length."""
        rng = numpy.random.default_rng(number)
        lengths = {"ids": 40, "boxes": 9, "blob": 300, "words": 12, "scores": 5}
        n = {name: (0, most)[number % 4] if number % 4 < 2
             else int(rng.integers(0, most + 1))
             for name, most in lengths.items()}
        return {
            "ids": rng.integers(-9, 2**31 - 1, n["ids"]).astype("i4"),
            "boxes": rng.normal(size=(n["boxes"], 4)).astype("f2"),
            "blob": rng.integers(0, 256, n["blob"]).astype("u1"),
            "words": numpy.frombuffer(
                "".join(rng.choice(list("ab €ü"), n["words"])).encode(), "u1"),
            "scores": rng.random(n["scores"]).astype("f4"),
        }

    def members(self, number):
        return files(self.sample(number), number)

    def test_one_caption_of_a_list_is_drawn_each_epoch(self):
        captions = [[f"{number} {'x' * i}é" for i in range(number % 5 + 1)]
                    for number in range(SAMPLES)]
        self.cluster.tars(self.cluster.path("data"), [
            {"json": json.dumps({"about": {"captions": some}}).encode()}
            for some in captions])
        pipeline = self.pipeline(
            "  caption: {from: json, decode: text, key: about.captions, "
            "pick: random, max_length: 20, out: {as: ragged}}\n",
            batch=SAMPLES)
        seen = []
        for epoch in (0, 1):
            arrays = self.batch(pipeline, 0, "--epoch", epoch)
            ends = arrays["caption.offsets"]
            texts = [arrays["caption"][a:b].tobytes().decode()
                     for a, b in zip(ends, ends[1:])]
            for number, text in zip(arrays["samples"], texts):
                self.assertIn(text, captions[number])
            seen.append(dict(zip(arrays["samples"].tolist(), texts)))
        self.assertNotEqual(seen[0], seen[1])
        self.assertGreater(len({len(text) for text in seen[0].values()}), 3)

    def test_padded_rows_are_what_numpy_pads(self):
        for arrays, right in self.batches(self.pipeline(self.WHOLE)):
            longest = {name: max(map(len, rows))
                       for name, rows in right.items()}
            for name, rows in right.items():
                self.assert_equal(arrays[name + ".lengths"], numpy.array(
                    [len(row) for row in rows], "i4"))
            self.assert_equal(
                arrays["ids"], padded(right["ids"], 40, -1, "i4"))
            self.assert_equal(arrays["boxes"], padded(
                right["boxes"], longest["boxes"], 0.5, "f4"))
            self.assert_equal(arrays["blob"], padded(
                right["blob"], longest["blob"], 0, "u1"))
            self.assert_equal(
                arrays["words"], padded(right["words"], 64, -7, "i4"))
            self.assert_equal(
                arrays["scores"], bf16(padded(right["scores"], 5, 0, "f4")))

    def test_ragged_rows_are_what_numpy_joins(self):
        types = {"ids": "i8", "boxes": "f2", "blob": "u1", "words": "u1",
                 "scores": "f2"}
        for arrays, right in self.batches(self.pipeline(self.PARTS)):
            for name, rows in right.items():
                ends = numpy.cumsum([0] + [len(row) for row in rows])
                self.assert_equal(arrays[name + ".offsets"], ends.astype(
                    "i8" if name == "ids" else "i4"))
                self.assert_equal(
                    arrays[name], numpy.concatenate(rows).astype(types[name]))

    def test_rows_that_are_too_long_or_damaged_are_substituted(self):
        def change(number, members):
            if number == 7:
                members["bin"] = bytes(301)
            if number == 20:
                members["txt"] = b"\xff"
            if number == 33:
                members["boxes.npy"] = npy(numpy.zeros((2, 5)))
            if number == 40:
                members["json"] = b'{"scores": 3}'
        self.assert_substituted(
            self.pipeline(self.WHOLE, change=change), 4,
            "the row has 301 entries, max_length is 300",
            "the text is not UTF-8",
            "its shape is [2, 5], that of the field's entries [4]",
            "JSON 'scores' is not a list of numbers")

    def test_what_is_too_long_can_be_cut(self):
        text = self.WHOLE.replace(
            "max_length: 64", "max_length: 3, too_long: truncate").replace(
            "max_length: 40", "max_length: 2, too_long: truncate")
        arrays = self.batch(self.pipeline(text), 0)
        right = self.right(arrays["samples"].tolist())
        cut = [row[:2] for row in right["ids"]]
        self.assert_equal(arrays["ids"], padded(cut, 2, -1, "i4"))
        for row, length, words in zip(
                arrays["words"], arrays["words.lengths"], right["words"]):
            shown = bytes(row[:length].astype("u1").tolist())
            self.assertTrue(words.tobytes().startswith(shown))
            shown.decode()  # no character is cut

    def test_fields_that_are_not_selected_do_not_travel(self):
        path = self.pipeline(self.WHOLE)
        every = self.sent_once(path)
        few = self.sent_once(path, "--field", "scores")
        bytes_of_scores = sum(
            4 * len(self.sample(i)["scores"]) for i in range(SAMPLES))
        steps = SAMPLES // BATCH
        self.assertEqual(few["raw_bytes"], bytes_of_scores + 16 * steps)
        self.assertLessEqual(
            few["wire_bytes"], bytes_of_scores + (16 + 64) * steps)
        self.assertGreater(every["wire_bytes"], 2 * few["wire_bytes"])


if __name__ == "__main__":
    harness.main()
