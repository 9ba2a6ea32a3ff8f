# SPDX-License-Identifier: Apache-2.0
"""Pictures sent as planes of Y, Cb and Cr, compared with NumPy and Pillow."""

import io
import json
import subprocess

import harness
import numpy
from PIL import Image

from harness import FOREBAY, SystemTest

SAMPLES, BATCH = 36, 12

FIELDS = """\
forebay: 1
splits: {{train: {{folder: "{root}"}}}}
global_batch: {batch}
on_bad_sample: {{do: substitute, limit: 20}}
fields:
  image:
    from: [jpg, png]
    dct_scale: "off"
    ops: [{ops}]
    wire: {wire}
    out: {out}
"""

DEVICE = """\
    device:
      - horizontal_flip
      - vertical_flip
      - colour_jitter: {{brightness: 0.4, contrast: 0.4, hue: 0.1}}
      - normalize: {{mean: [0.4, 0.5, 0.6], std: 0.25}}
      - random_erasing: {{p: 0.5, value: [1, 0, -1]}}
      - {mixing}: {{label: label}}
"""


def picture(number, width, height):
    """Smooth, with edges and colours."""
    y, x = numpy.mgrid[0:height, 0:width]
    waves = [127 + 120 * numpy.sin((x * (c + 1) + y * 3 + 9 * number) / 31)
             for c in range(3)]
    pixels = numpy.stack(waves, axis=-1)
    pixels[(x // 20 + y // 24 + number) % 5 == 0] = (250, 20, 60)
    return Image.fromarray(pixels.astype(numpy.uint8))


def jpeg(number, width, height):
    """All samplings, baseline and progressive, grey."""
    out = io.BytesIO()
    image = picture(number, width, height)
    if number % 5 == 4:
        image = image.convert("L")
    image.save(out, "JPEG", quality=90, subsampling=number % 3,
               progressive=number % 4 == 3)
    return out.getvalue()


def png(number, width, height):
    out = io.BytesIO()
    picture(number, width, height).save(out, "PNG")
    return out.getvalue()


def file_of(number, width, height):
    if number % 7 == 6:
        return "png", png(number, width, height)
    return "jpg", jpeg(number, width, height)


# ---- the definition ----

def converted(rgb):
    """JFIF's colours in 16 fractional bits."""
    r, g, b = (rgb[..., c].astype(numpy.int64) for c in range(3))
    half, centre = 1 << 15, 128 << 16
    return numpy.stack((
        (19595 * r + 38470 * g + 7471 * b + half) >> 16,
        (32768 * b - 11059 * r - 21709 * g + centre + half - 1) >> 16,
        (32768 * r - 27439 * g - 5329 * b + centre + half - 1) >> 16), axis=-1)


def decoded(data):
    """Y, Cb, Cr as a file stores them; else its colours, and that they are."""
    image = Image.open(io.BytesIO(data))
    if image.format == "JPEG" and image.mode == "RGB":
        image.draft("YCbCr", image.size)
        return numpy.asarray(image), True
    return numpy.asarray(image.convert("RGB")), False


def halved(plane):
    h, w = plane.shape
    p = numpy.pad(plane, ((0, h % 2), (0, w % 2)), "edge").astype(numpy.int64)
    return (p[::2, ::2] + p[::2, 1::2] + p[1::2, ::2] + p[1::2, 1::2] + 2) >> 2


def neighbours(n):
    """For each of 2n places, which of n values is its second."""
    i = numpy.arange(2 * n)
    return numpy.clip(i // 2 + numpy.where(i % 2 == 0, -1, 1), 0, n - 1)


def doubled_tile(plane, height, width):
    h, w = plane.shape
    near, down = numpy.arange(2 * h) // 2, neighbours(h)
    lines = 3 * plane[near] + plane[down]
    here, beside = numpy.arange(2 * w) // 2, neighbours(w)
    bias = numpy.where(numpy.arange(2 * w) % 2 == 0, 8, 7)
    out = (3 * lines[:, here] + lines[:, beside] + bias) >> 4
    return out[:height, :width]


def doubled(plane, height, width):
    out = numpy.zeros((height, width), numpy.int64)
    for y in range(0, height, 32):
        for x in range(0, width, 256):
            h, w = min(32, height - y), min(256, width - x)
            part = plane[y // 2:(y + h + 1) // 2, x // 2:(x + w + 1) // 2]
            out[y:y + h, x:x + w] = doubled_tile(part, h, w)
    return out


def to_rgb(pixels):
    """What the device makes of the planes of such pixels of Y, Cb, Cr."""
    h, w = pixels.shape[:2]
    y = pixels[..., 0].astype(numpy.int64)
    u, v = (doubled(halved(pixels[..., c]), h, w) - 128 for c in (1, 2))
    half = 1 << 15
    return numpy.clip(numpy.stack((
        y + ((91881 * v + half) >> 16),
        y + ((-22554 * u - 46802 * v + half) >> 16),
        y + ((116130 * u + half) >> 16)), axis=-1), 0, 255).astype(numpy.uint8)


def as_delivered(data, geometry, fill):
    pixels, ycbcr = decoded(data)
    pixels = geometry(pixels, (fill, 128, 128) if ycbcr else (fill,) * 3)
    return to_rgb(pixels if ycbcr else converted(pixels))


def cropped(pixels, height, width):
    def start(gap):
        return (gap + gap // 2 % 2) // 2
    y = start(pixels.shape[0] - height)
    x = start(pixels.shape[1] - width)
    return pixels[y:y + height, x:x + width]


def padded(pixels, by, fill):
    h, w = pixels.shape[:2]
    out = numpy.empty((h + 2 * by, w + 2 * by, 3), numpy.uint8)
    out[:] = fill
    out[by:by + h, by:by + w] = pixels
    return out


def scaled(pixels, height, width):
    bands = [Image.fromarray(numpy.ascontiguousarray(pixels[..., c])).resize(
        (width, height), Image.BILINEAR) for c in range(3)]
    return numpy.stack([numpy.asarray(band) for band in bands], axis=-1)


class Yuv(SystemTest):
    def data(self, number=SAMPLES, sides=lambda i: (70 + i, 95 - i),
             name="data"):
        root = self.cluster.root = self.cluster.path(name)
        files = []
        for i in range(number):
            folder = root / f"c{i * 3 // number}"
            folder.mkdir(parents=True, exist_ok=True)
            kind, data = file_of(i, *sides(i))
            (folder / f"{i:04}.{kind}").write_bytes(data)
            files.append(data)
        return files

    def pipeline(self, ops, wire="yuv420", out="{}", batch=BATCH, root=None,
                 name="p.yaml"):
        path = self.cluster.path(name)
        path.write_text(FIELDS.format(
            root=root or self.cluster.root, ops=ops, wire=wire, out=out,
            batch=batch))
        return path

    def images(self, pipeline):
        arrays = self.batch(pipeline)
        return arrays["image"], arrays["samples"].tolist()

    def epoch(self, pipeline):
        return self.first_batches(pipeline, SAMPLES // BATCH)

    def check(self, files, pipeline, right, most=0):
        seen = set()
        for batch in self.epoch(pipeline):
            samples = batch["samples"].tolist()
            for got, number in zip(batch["image"], samples):
                want = right(files[number])
                self.assertEqual(got.shape, want.shape)
                worst = numpy.abs(got.astype(int) - want).max()
                self.assertLessEqual(worst, most, f"sample {number}")
            seen.update(samples)
        self.assertEqual(seen, set(range(SAMPLES)))

    def test_crops_and_pads_are_those_of_the_definition(self):
        files = self.data()
        pipeline = self.pipeline(
            "{center_crop: {size: [53, 61]}}, {pad: {padding: 5, fill: 77}}")
        self.check(files, pipeline, lambda data: as_delivered(
            data, lambda p, fill: padded(cropped(p, 53, 61), 5, fill), 77))

    def test_scaled_planes_are_within_a_level_of_pillow(self):
        files = self.data()
        pipeline = self.pipeline("{resize: {size: [47, 300]}}")
        self.check(files, pipeline, lambda data: as_delivered(
            data, lambda p, fill: scaled(p, 47, 300), 0), most=3)

    def test_one_stream_for_any_coding_and_any_workers(self):
        self.data()
        ops = ("{random_resized_crop: {size: [64, 50]}}, horizontal_flip, "
               "{rotate: {degrees: 20, fill: 9}}, {gaussian_blur: "
               "{kernel: 3}}, {random_erasing: {value: [9, 200, 30]}}")
        digests = set()
        for i, wire in enumerate(("yuv420", "{type: yuv420, codec: store}",
                                  "{type: yuv420, filter: photo}",
                                  "{type: yuv420, filter: delta, codec: lz4}")):
            pipeline = self.pipeline(ops, wire, name=f"{i}.yaml")
            pull = self.cluster.pull_alone(pipeline, "--workers", 1 + i % 3,
                                           "--epochs", 2)
            digests.add(pull.finish()["digest"])
        self.cluster.start(2)
        pipeline = self.pipeline(ops, root="data:", name="served.yaml")
        pull = self.cluster.pull(pipeline, "--epochs", 2)
        digests.add(pull.finish()["digest"])
        self.assertEqual(len(digests), 1)

    def test_large_pictures_travel_in_parts(self):
        files = self.data(3, lambda i: (1701, 1503 + i), "large")
        size = "{center_crop: {size: [1501, 1699]}}"
        right = [as_delivered(data, lambda p, fill: cropped(p, 1501, 1699), 0)
                 for data in files]
        for codec in ("store", "pack", "lz4"):
            pipeline = self.pipeline(
                size, f"{{type: yuv420, codec: {codec}}}", batch=3)
            images, samples = self.images(pipeline)
            for got, number in zip(images, samples):
                self.assertTrue(numpy.array_equal(got, right[number]), codec)

    def test_normalised_planes_are_those_of_the_u8_pixels(self):
        self.data()
        pipeline = self.pipeline("{resize: {size: 60}}")
        plain, numbers = self.images(pipeline)
        text = pipeline.read_text().replace(
            "    wire:", "    device: [{normalize: {mean: [0.4, 0.5, 0.6], "
            "std: 0.25}}]\n    wire:").replace(
            "out: {}", "out: {dtype: f32, layout: chw}")
        pipeline.write_text(text)
        images, again = self.images(pipeline)
        self.assertEqual(numbers, again)
        mean = numpy.array([0.4, 0.5, 0.6])
        right = (plain / 255 - mean) / 0.25
        self.assertLess(
            numpy.abs(images - right.transpose(0, 3, 1, 2)).max(), 1e-5)

    def with_ops(self, pipeline, mixing):
        text = pipeline.read_text().replace(
            "    wire:", DEVICE.format(mixing=mixing) + "    wire:").replace(
            "out: {}", "out: {dtype: f32, layout: chw}")
        pipeline.write_text(
            text + "  label: {from: folder, classes: 3, one_hot: {}}\n")
        return pipeline

    def test_ops_of_the_device_are_those_of_the_u8_pixels(self):
        """Compare with u8 pictures of the converted planes and equal draws."""
        self.data()
        size = "{resize: {size: [47, 301]}}"
        converted_root = self.cluster.path("converted")
        for batch in self.epoch(self.pipeline(size)):
            for image, number in zip(batch["image"], batch["samples"]):
                folder = converted_root / f"c{number * 3 // SAMPLES}"
                folder.mkdir(parents=True, exist_ok=True)
                Image.fromarray(image).save(folder / f"{number:04}.png")
        for mixing in ("mixup", "cutmix"):
            planes = self.with_ops(self.pipeline(size), mixing)
            u8 = self.with_ops(
                self.pipeline(size, "u8", root=converted_root, name="u8.yaml"),
                mixing)
            for got, right in zip(self.epoch(planes), self.epoch(u8)):
                for name in ("samples", "label", "image"):
                    self.assertTrue(
                        numpy.array_equal(got[name], right[name]), name)

    def test_stored_planes_take_the_bytes_that_they_have(self):
        self.data()
        pipeline = self.pipeline("{resize: {size: [225, 223]}}",
                                 "{type: yuv420, codec: store}")
        sent = self.sent_once(pipeline)["wire_bytes"]
        least = SAMPLES * (225 * 223 + 2 * 113 * 112)
        self.assertLessEqual(sent, 1.05 * least)
        self.assertGreaterEqual(sent, least)

    def test_bad_files_are_substituted_and_named(self):
        files = self.data()
        root = self.cluster.root
        (root / "c0" / "0003.jpg").write_bytes(files[3][:len(files[3]) // 2])
        (root / "c0" / "0008.jpg").write_bytes(b"\xff\xd8 and no picture")
        pull = self.cluster.pull_alone(
            self.pipeline("{resize: {size: 32}}"), "--epochs", 1)
        self.assertEqual(pull.finish()["substituted"], 2)
        self.assertIn("0008.jpg", pull.error)

    def test_lint_and_plan_know_it(self):
        self.data()
        pipeline = self.pipeline(
            "{random_resized_crop: {size: 48}}, horizontal_flip")
        self.forebay("plan", "-p", pipeline, "--json")
        self.assertIn("findings", json.loads(
            self.forebay("lint", "-p", pipeline, "--json")))

    def test_ops_of_colour_are_refused_by_name(self):
        self.data()
        for op in ("grayscale", "random_grayscale", "{colour_jitter: {hue: "
                   "0.1}}", "trivial_augment_wide", "rand_augment"):
            pipeline = self.pipeline("{resize: {size: 8}}, " + op)
            shown = subprocess.run(
                [FOREBAY, "plan", "-p", pipeline], capture_output=True,
                text=True, check=False, env=self.cluster.env)
            self.assertNotEqual(shown.returncode, 0)
            name = op.strip("{}").split(":")[0]
            self.assertIn(f"{name} needs red, green and blue", shown.stderr)


if __name__ == "__main__":
    harness.main()
