# SPDX-License-Identifier: Apache-2.0
"""Bytes on the wire: as docs/pipeline.md predicts, plus at most 5 %.

A proxy counts all bytes from a worker: chunks with their prefixes, HEADER and
END, and also the answers to HELLO, OPEN and PING and the framing of ZeroMQ.
Batches have 256 KiB or more and are not compressed."""

import io
import tarfile

import harness
import numpy
import proxy

from PIL import Image

from harness import SystemTest

LEAST = 256 << 10
WIDTHS = {"u8": 1, "u16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2,
          "f32": 4, "u32": 4}
SAMPLES, ROWS, SIDE = 512, 1 << 16, 96
CODEC = "codec: store"


def npy(array):
    out = io.BytesIO()
    numpy.save(out, array)
    return out.getvalue()


def mask(rng):
    out = io.BytesIO()
    Image.fromarray(rng.integers(0, 2, (SIDE, SIDE)).astype("u1")).save(
        out, "png", compress_level=1)
    return out.getvalue()


def sample(rng):
    words = "".join(rng.choice(list("ab €ü"), rng.integers(0, 900)))
    return {
        "values.npy": npy(rng.integers(0, 100, (16, 64)).astype("u1")),
        "flags.npy": npy(rng.integers(0, 2, (19, 16, 21)).astype("?")),
        "ids.npy": npy(rng.integers(0, 99, rng.integers(0, 401)).astype("i4")),
        "boxes.npy": npy(rng.normal(size=(rng.integers(0, 101), 4))),
        "txt": words.encode(),
    }


def row(rng, n, dense):
    out = io.BytesIO()
    at = numpy.sort(rng.choice(dense, n, replace=False))
    numpy.savez(out, data=rng.normal(size=n), indices=at, indptr=[0, n],
                shape=[1, dense], format=b"csr")
    return out.getvalue()


class Wire(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.cluster.path("data")
        self.root.mkdir()
        self.cluster.root = self.root
        self.cluster.start_server()
        self.proxy = proxy.Proxy()
        self.addCleanup(self.proxy.close)
        worker = self.cluster.start_worker(
            "--advertise", self.proxy.endpoint, env=harness.PATIENT)
        self.proxy.to = worker.port

    def shard(self, name, samples):
        with tarfile.open(self.root / name, "w") as tar:
            for number, members in enumerate(samples):
                for extension, data in members.items():
                    member = tarfile.TarInfo(f"{number:04}.{extension}")
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))

    def pulled(self, path, *args):
        """An epoch in which no batch was requested twice, as happens when a
        worker waits for a CPU; returns also the bytes received."""
        for _ in range(5):
            before = self.proxy.answered
            result = self.cluster.pull(
                path, "--epochs", 1, *args, env=harness.PATIENT).finish()
            if result["rerequests"] + result["hedges"] == 0:
                break
        self.assertEqual(result["rerequests"] + result["hedges"], 0)
        return result, self.proxy.answered - before

    def check(self, name, source, field, batch, least, *args):
        """Check an epoch of batches whose rows take `least` bytes in all."""
        path = self.cluster.path(f"{name}.yaml")
        path.write_text(
            f"forebay: 1\nsplits: {{train: {{{source}, last: drop}}}}\n"
            f"global_batch: {batch}\nfields:\n{field}\n")
        result, sent = self.pulled(path, *args)
        with self.subTest(name):
            self.assertGreaterEqual(least, result["steps"] * LEAST)
            self.assertGreaterEqual(result["wire_bytes"], least)
            self.assertGreater(sent, result["wire_bytes"])
            self.assertLessEqual(sent, 1.05 * least)

    def test_arrays_of_all_types(self):
        rng = numpy.random.default_rng(1)
        self.shard("a.tar", [sample(rng) for _ in range(SAMPLES)])
        for wire, width in WIDTHS.items():
            self.check(
                wire, "shards: 'data:a.tar'",
                "  x: {from: values.npy, decode: array, shape: [16, 64], "
                f"wire: {{type: {wire}, {CODEC}}}}}",
                256 // width, SAMPLES * 1024 * width)

    def test_bits(self):
        rng = numpy.random.default_rng(2)
        self.shard("a.tar", [sample(rng) for _ in range(SAMPLES)])
        self.check(
            "bits", "shards: 'data:a.tar'",
            "  x: {from: flags.npy, decode: array, shape: [19, 16, 21], "
            f"wire: {{type: bits, {CODEC}}}}}", 512, SAMPLES * 19 * 16 * 3)
        names = [f"{k}.png" for k in range(9)]
        self.shard("m.tar", [{name: mask(rng) for name in names}
                             for _ in range(30)])
        self.check(
            "maps", "shards: 'data:m.tar'",
            f"  x: {{from: [{', '.join(names)}], decode: maps, "
            f"ops: [{{center_crop: {{size: {SIDE}}}}}], "
            f"wire: {{type: bits, {CODEC}}}}}", 15, 30 * SIDE * SIDE * 2)

    def test_rows_of_several_lengths(self):
        rng = numpy.random.default_rng(3)
        samples = [sample(rng) for _ in range(2 * SAMPLES)]
        self.shard("a.tar", samples)

        def lengths(name):
            return [len(numpy.load(io.BytesIO(members[name])))
                    for members in samples]

        n = len(samples)
        self.check(
            "ids", "shards: 'data:a.tar'",
            "  x: {from: ids.npy, decode: array, shape: [], max_length: 400, "
            f"wire: {{type: u16, {CODEC}}}}}", n,
            2 * n + 2 * sum(lengths("ids.npy")))
        self.check(
            "boxes", "shards: 'data:a.tar'",
            "  x: {from: boxes.npy, decode: array, shape: [4], "
            f"max_length: 100, wire: {{type: f16, {CODEC}}}}}", n,
            n + 8 * sum(lengths("boxes.npy")))
        self.check(
            "text", "shards: 'data:a.tar'",
            "  x: {from: txt, decode: text, max_length: 70000, "
            f"wire: {{type: u8, {CODEC}}}}}", n,
            4 * n + sum(len(members["txt"]) for members in samples))

    def test_sparse_rows(self):
        rng = numpy.random.default_rng(5)
        for name, dense, most, length, index, batch in (
                ("byte", 250, 120, 1, 1, 2048),
                ("word", 60000, 400, 2, 2, 2048),
                ("large", 1 << 20, 70000, 4, 4, 512)):
            lengths = rng.integers(0, min(most, 700) + 1, 2048)
            self.shard(f"{name}.tar", [
                {"npz": row(rng, n, dense)} for n in lengths])
            self.check(
                name, f"shards: 'data:{name}.tar'",
                f"  x: {{from: npz, decode: sparse, shape: [{dense}], "
                f"max_length: {most}, wire: {{type: f16, {CODEC}}}, "
                "out: {as: csr}}", batch,
                2048 * length + (index + 2) * int(lengths.sum()))

    def test_columns_and_labels(self):
        rng = numpy.random.default_rng(4)
        folder = self.root / "table"
        folder.mkdir()
        numpy.save(folder / "dense.npy",
                   rng.integers(0, 99, (2 * ROWS, 4)).astype("u1"))
        for classes, width in ((200, 1), (60000, 2), (100000, 4)):
            numpy.save(folder / f"l{width}.npy",
                       rng.integers(0, classes, 2 * ROWS))
            self.check(
                f"label{width}", "columns: 'data:table'",
                f"  x: {{from: l{width}, decode: label, classes: {classes}, "
                f"wire: {{{CODEC}}}}}\n"
                "  y: {from: dense, decode: array, shape: [4], "
                f"wire: {{type: u8, {CODEC}}}}}",
                ROWS, 2 * ROWS * (4 + width))

    def test_fields_that_are_not_selected(self):
        rng = numpy.random.default_rng(5)
        self.shard("a.tar", [sample(rng) for _ in range(SAMPLES)])
        self.check(
            "some", "shards: 'data:a.tar'",
            "  x: {from: values.npy, decode: array, shape: [16, 64], "
            f"wire: {{type: u16, {CODEC}}}}}\n"
            "  y: {from: flags.npy, decode: array, shape: [19, 16, 21], "
            f"wire: {{type: u8, {CODEC}}}}}\n"
            "  z: {from: txt, decode: text, max_length: 70000}",
            256, SAMPLES * 1024 * 2, "--field", "x")

    def test_tokens(self):
        numpy.arange(1 << 19).astype("u2").tofile(self.root / "t.bin")
        for wire, width in (("u16", 2), ("u32", 4)):
            self.check(
                f"tokens{width}", "tokens: {files: 'data:t.bin', "
                "format: flat, type: u16, length: 1024}",
                f"  x: {{from: input, wire: {{type: {wire}, {CODEC}}}}}",
                256 // width, width << 19)

    def test_pictures(self):
        self.cluster.photos(48, 4, "data/photos")
        for wire, each in (("u8", 63 * 65 * 3),
                           ("yuv420", 63 * 65 + 2 * 32 * 33)):
            self.check(
                wire, "folder: 'data:photos'",
                "  x: {from: jpg, ops: [{resize: {size: [63, 65]}}], "
                f"wire: {{type: {wire}, {CODEC}}}}}",
                48, 48 * each)


if __name__ == "__main__":
    harness.main()
