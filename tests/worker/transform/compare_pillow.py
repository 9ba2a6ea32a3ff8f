# SPDX-License-Identifier: Apache-2.0
"""Our resize and decoder against Pillow's, on the same pixels and files.

usage: compare_pillow.py PIXELS FOLDER [SEED]
PIXELS is the program made of pixels.c, FOLDER holds JPEG files.
"""
import io
import pathlib
import random
import struct
import subprocess
import sys

import numpy
from PIL import Image, ImageOps

BILINEAR = Image.BILINEAR


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _ask(self, message):
        self.process.stdin.write(message)
        self.process.stdin.flush()

    def _picture(self, width, height):
        size = width * height * 3
        data = self.process.stdout.read(size)
        assert len(data) == size, "no answer"
        return numpy.frombuffer(data, numpy.uint8).reshape(height, width, 3)

    def resize(self, pixels, box, size):
        height, width, _ = pixels.shape
        x, y, w, h = box
        self._ask(b"R" + struct.pack("<8I", width, height, x, y, w, h, *size)
                  + pixels.tobytes())
        return self._picture(*size)

    def decode(self, data):
        self._ask(b"D" + struct.pack("<I", len(data)) + data)
        width, height = struct.unpack("<2I", self.process.stdout.read(8))
        return self._picture(width, height)

    def field(self, data, side, scale, sample):
        """The crop that the sample draws, and its pixels."""
        self._ask(b"F" + struct.pack("<4I", len(data), side, scale, sample)
                  + data)
        box = struct.unpack("<4I", self.process.stdout.read(16))
        return box, self._picture(side, side)

    def photo(self, number, width, height, sampling, progressive):
        self._ask(b"P" + struct.pack("<5I", number, width, height, sampling,
                                     progressive))
        size, = struct.unpack("<I", self.process.stdout.read(4))
        return self.process.stdout.read(size)

    def step(self, kind, values, pixels):
        """`pixels` [h, w, channels] after the step."""
        height, width, channels = pixels.shape
        values = list(values) + [0] * (8 - len(values))
        self._ask(b"S" + struct.pack("<4I8q", kind, width, height, channels,
                                     *values) + pixels.tobytes())
        width, height = struct.unpack("<2I", self.process.stdout.read(8))
        flat = numpy.frombuffer(
            self.process.stdout.read(width * height * channels), numpy.uint8)
        return flat.reshape(height, width, channels)

    def png(self, data, channels):
        """Pixels, or why it is refused."""
        self._ask(b"N" + struct.pack("<2I", channels, len(data)) + data)
        refused, n = struct.unpack("<2I", self.process.stdout.read(8))
        if refused:
            return self.process.stdout.read(n).decode()
        width, height = n, *struct.unpack("<I", self.process.stdout.read(4))
        flat = numpy.frombuffer(
            self.process.stdout.read(width * height * channels), numpy.uint8)
        return flat.reshape(height, width, channels)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def check(name, ours, theirs, worst_mean):
    assert ours.shape == theirs.shape, f"{name}: {ours.shape} {theirs.shape}"
    difference = numpy.abs(ours.astype(int) - theirs.astype(int))
    worst, mean = int(difference.max()), float(difference.mean())
    assert worst <= 1, f"{name}: a pixel differs by {worst} levels"
    assert mean <= worst_mean, f"{name}: mean difference {mean}"
    return mean


def picture(rng, width, height):
    """Noise, flat areas and hard edges, as unkind to a filter as can be."""
    pixels = numpy.frombuffer(
        rng.randbytes(width * height * 3), numpy.uint8).reshape(
            height, width, 3).copy()
    kind = rng.randrange(4)
    if kind == 0:
        pixels[:] = rng.choice((0, 255))
    elif kind == 1:
        pixels = numpy.where(pixels > 127, 255, 0).astype(numpy.uint8)
    elif kind == 2:
        pixels[:, : width // 2] = 255
    return pixels


def cases(rng):
    """(width, height, box, result's size): the corners, then anything."""
    whole = (0, 0, 0, 0)
    for width, height, size in (
            (1, 1, (1, 1)), (1, 1, (7, 5)), (5, 7, (1, 1)), (2, 2, (3, 3)),
            (3, 1, (1, 3)), (640, 480, (224, 224)), (64, 48, (640, 480)),
            (333, 7, (7, 333)), (100, 100, (100, 33)), (100, 100, (33, 100)),
            (50, 50, (50, 50)), (4000, 3, (3, 2)), (511, 512, (512, 511))):
        yield width, height, whole, size
    for _ in range(120):
        width, height = rng.randint(1, 400), rng.randint(1, 400)
        w, h = rng.randint(1, width), rng.randint(1, height)
        box = (rng.randint(0, width - w), rng.randint(0, height - h), w, h)
        largest = rng.choice((4, 60, 300))
        yield width, height, box, (
            rng.randint(1, largest), rng.randint(1, largest))


def compare_resize(ours, rng):
    means = []
    for width, height, box, size in cases(rng):
        x, y, w, h = box if box[2] else (0, 0, width, height)
        pixels = picture(rng, width, height)
        part = Image.fromarray(pixels).crop((x, y, x + w, y + h))
        theirs = numpy.asarray(part.resize(size, BILINEAR))
        name = f"{width}x{height} box {x},{y} {w}x{h} to {size}"
        means.append(check(
            name, ours.resize(pixels, (x, y, w, h), size), theirs, 0.05))
    assert len(means) > 100
    print(f"resize: {len(means)} cases, mean difference {numpy.mean(means)}")


def compare_decode(ours, folder):
    files = sorted(pathlib.Path(folder).glob("*.jpg"))
    assert files, f"no files in {folder}"
    for path in files:
        theirs = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
        mean = check(path.name, ours.decode(path.read_bytes()),
                     numpy.asarray(theirs), 0.01)
        print(f"decode: {path.name} mean difference {mean}")


SAMPLINGS = {0: "4:2:0", 1: "4:4:4", 2: "4:2:2", 3: "4:4:0", 4: "grey"}
OFF, FAITHFUL, FAST = 1, 2, 3


def crop_difference(ours, data, whole, side, scale, sample):
    """Mean difference of one crop from Pillow's of the whole picture, and the
    whole pixels of the file that become one of ours."""
    (x, y, w, h), pixels = ours.field(data, side, scale, sample)
    part = whole.crop((x, y, x + w, y + h))
    theirs = numpy.asarray(part.resize((side, side), BILINEAR))
    mean = numpy.abs(pixels.astype(int) - theirs.astype(int)).mean()
    return float(mean), min(w, h) / side


def compare_fields(ours, rng):
    """Whole path, header to result, against a full decode and Pillow."""
    worst = {OFF: 0, FAITHFUL: 0, FAST: 0}
    smaller = 0
    for number in range(20):
        sampling = number % 5
        data = ours.photo(number, rng.randint(500, 1600),
                          rng.randint(500, 1600), sampling, number % 3 == 0)
        whole = Image.open(io.BytesIO(data)).convert("RGB")
        for sample in range(6):
            for scale, side in (OFF, 224), (FAITHFUL, 112), (FAST, 112):
                mean, times = crop_difference(
                    ours, data, whole, side, scale, sample)
                worst[scale] = max(worst[scale], mean)
                smaller += scale == FAITHFUL and times >= 4
                limit = {OFF: 0.1, FAITHFUL: 0.7, FAST: 2}[scale]
                assert mean <= limit, (
                    f"{SAMPLINGS[sampling]} {whole.size} sample {sample} "
                    f"dct_scale {scale}: mean difference {mean}")
    assert smaller > 20, f"only {smaller} were decoded smaller"
    print(f"whole path: largest mean difference off {worst[OFF]:.3f}, faithful "
          f"{worst[FAITHFUL]:.3f}, fast {worst[FAST]:.3f}")


def main():
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20250101
    print(f"seed {seed}")
    ours = Ours(sys.argv[1])
    compare_resize(ours, random.Random(seed))
    compare_decode(ours, sys.argv[2])
    compare_fields(ours, random.Random(seed))
    ours.close()


if __name__ == "__main__":
    main()
