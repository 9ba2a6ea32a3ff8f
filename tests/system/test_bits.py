# SPDX-License-Identifier: Apache-2.0
"""Bits: masks and arrays of zeros and ones travel eight to a byte."""

import io
import tarfile

import harness
import numpy
from PIL import Image

from harness import SystemTest

SAMPLES, BATCH = 24, 8
NAMES = [f"m{k}" for k in range(11)]

FIELDS = f"""\
global_batch: {BATCH}
seed: 7
on_bad_sample: {{do: substitute, limit: 20}}
fields:
  image:
    from: png
    group: view
    ops: [{{random_crop: {{size: [24, 32]}}}}, horizontal_flip]
  things:
    from: [{", ".join(name + ".png" for name in NAMES)}]
    decode: maps
    group: view
    ops: [{{random_crop: {{size: [24, 32]}}}}, horizontal_flip]
    out: {{dtype: DTYPE, layout: LAYOUT}}
  roads: {{from: roads.npy, decode: array, shape: [5, 7, 19], wire: bits,
          out: {{dtype: DTYPE, layout: LAYOUT}}}}
  flags: {{from: flags.npy, decode: array, shape: [100], wire: bits,
          out: {{dtype: bool}}}}
"""


def png(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "png")
    return out.getvalue()


def npy(array):
    out = io.BytesIO()
    numpy.save(out, array)
    return out.getvalue()


def sample(number):
    """Masks, a picture whose red level tells which are set, two arrays."""
    rng = numpy.random.default_rng(number)
    height, width = 30 + number % 5, 40 + number % 3
    code = rng.integers(0, 2**11, (height, width))
    image = numpy.stack([code % 256, code // 256, 0 * code], -1)
    files = {"png": png(image.astype("u1"))}
    for k, name in enumerate(NAMES):
        mask = (code >> k & 1) * rng.integers(1, 256, code.shape)
        files[name + ".png"] = png(mask > 0 if k == 3 else mask.astype("u1"))
    roads = rng.integers(0, 2, (5, 7, 19)).astype(
        ("u1", "?", ">i8", "<u2")[number % 4])
    flags = rng.random(100) > 0.5
    files["roads.npy"], files["flags.npy"] = npy(roads), npy(flags)
    return files, roads, flags


class Bits(SystemTest):
    def shards(self, change=lambda number, files: None):
        root = self.cluster.path("data")
        root.mkdir(exist_ok=True)
        for first in range(0, SAMPLES, 8):
            with tarfile.open(root / f"{first:03}.tar", "w") as tar:
                for number in range(first, first + 8):
                    files = sample(number)[0]
                    change(number, files)
                    for extension, data in files.items():
                        member = tarfile.TarInfo(f"{number:04}.{extension}")
                        member.size = len(data)
                        tar.addfile(member, io.BytesIO(data))
        return f"{root}/*.tar"

    def pipeline(self, dtype, layout):
        path = self.cluster.path("p.yaml")
        path.write_text(
            "forebay: 1\nsplits: {train: {shards: '" + self.shards() + "'}}\n"
            + FIELDS.replace("DTYPE", dtype).replace("LAYOUT", layout))
        return path

    def check(self, arrays, dtype, layout):
        code = arrays["image"].astype(int)
        code = code[..., 0] + 256 * code[..., 1]
        things = numpy.stack([code >> k & 1 for k in range(11)], -1)
        roads = numpy.stack(
            [sample(n)[1].astype(int) for n in arrays["samples"].tolist()])
        for name, right in ("things", things), ("roads", roads):
            if layout != "hwc":
                right = right.transpose(0, 3, 1, 2)
            self.assertEqual(arrays[name].dtype, numpy.dtype(dtype))
            self.assertTrue(numpy.array_equal(arrays[name], right), name)
        flags = numpy.stack([sample(n)[2] for n in arrays["samples"].tolist()])
        self.assertEqual(arrays["flags"].dtype, numpy.dtype("?"))
        self.assertTrue(numpy.array_equal(arrays["flags"], flags))

    def test_masks_follow_the_image_and_arrays_come_unpacked(self):
        for dtype, name, layout in (
                ("u1", "u8", "hwc"), ("?", "bool", "chw"), ("f4", "f32", "chw"),
                ("f2", "f16", "hwc"), ("f4", "f32", "channels_last")):
            arrays = self.batch(self.pipeline(name, layout), 1)
            self.check(arrays, dtype, layout)

    def test_they_travel_in_as_few_bytes_as_there_are_bits(self):
        pipeline = self.pipeline("u8", "hwc")
        text = pipeline.read_text().replace(
            "wire: bits", "wire: {type: bits, codec: store}").replace(
            "decode: maps", "decode: maps\n    wire: {codec: store}")
        pipeline.write_text(text)
        report = self.sent_once(
            pipeline, "--field", "things", "--field", "roads", "--field",
            "flags")
        minimal = SAMPLES * (24 * 32 * 2 + 5 * 7 * 3 + 13)
        self.assertLessEqual(report["wire_bytes"] - 3 * 3 * 64, minimal)

    def test_any_workers_make_the_same_stream(self):
        pipeline = self.pipeline("bool", "chw")
        self.assert_one_stream(pipeline, (pipeline, "--workers", 3), head=1)

    def test_a_bad_mask_or_value_is_substituted_by_name(self):
        def spoil(number, files):
            if number == 3:
                files["m7.png"] = png(numpy.zeros((8, 8), "u1"))
            if number == 5:
                files["roads.npy"] = npy(numpy.full((5, 7, 19), 2, "u1"))
            if number == 6:
                del files["m10.png"]

        pipeline = self.pipeline("u8", "hwc")
        self.shards(spoil)
        pull = self.cluster.pull_alone(pipeline, "--epochs", 1)
        pull.finish()
        for words in ("masks of one field have one size",
                      "value 0 is 2 (uint8); a bit is 0 or 1",
                      "the sample has no member .m10.png"):
            self.assertIn(words, pull.error)

    def test_the_mask_that_is_bad_is_named(self):
        """A file of a sample of five: another size, too wide, damaged."""
        root = self.cluster.path("files")
        path = self.cluster.path("files.yaml")
        names = ("image", "m0", "m1", "m2", "m3")
        path.write_text(
            "forebay: 1\n"
            f"splits: {{train: {{parallel: '{root}/{{{','.join(names)}}}', "
            "shuffle: none}}\nglobal_batch: 1\nfields:\n  things:\n    from: ["
            + ", ".join(f"{name}.png" for name in names[1:])
            + "]\n    decode: maps\n    ops: [{random_crop: {size: 8}}]\n")
        good = png(numpy.ones((8, 9), "u1"))
        for name in names:
            (root / name).mkdir(parents=True)
            (root / name / "1.png").write_bytes(good)
        for name, bad, says in (
                ("m1", png(numpy.ones((9, 9), "u1")),
                 ".m0.png has 9 x 8 pixels, .m1.png 9 x 9; masks of one field "
                 "have one size"),
                ("m2", png(numpy.ones((1, 70000), "u1")),
                 ".m2.png: PNG claims 70000 x 1 pixels; a picture has at most "
                 "65535 a side: make it smaller"),
                ("m3", good[:-30] + b"x" + good[-29:], ".m3.png: PNG: the "
                 "chunk at byte 33 is damaged or truncated")):
            (root / name / "1.png").write_bytes(bad)
            pull = self.run_forebay("pull", "-p", path)
            self.assertIn(
                f"file {name}/1.png, sample 0: field things: {says}",
                pull.stderr)
            check = self.run_forebay("lint", "--check", "-p", path)
            self.assertEqual(
                check.stdout.splitlines()[0],
                f"{name}/1.png: sample 0: field things: {says}")
            (root / name / "1.png").write_bytes(good)

    def test_lint_plan_and_show_know_maps(self):
        pipeline = self.pipeline("f32", "chw")
        for command in ("lint",), ("plan",), (
                "show", "-o", self.cluster.path("sheet.png")):
            self.forebay(command[0], "-p", pipeline, *command[1:])


if __name__ == "__main__":
    harness.main()
