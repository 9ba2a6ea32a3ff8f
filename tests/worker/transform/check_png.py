# SPDX-License-Identifier: Apache-2.0
"""Check our PNG decoder on files of known values: check_png.py PIXELS."""
import io
import struct
import sys
import zlib

import numpy
from PIL import Image

import png_file
from compare_pillow import Ours
from png_file import GREY, GREY_ALPHA, PALETTE, RGB, RGB_ALPHA, chunk, png

DEPTHS = {GREY: (1, 2, 4, 8), PALETTE: (1, 2, 4, 8), RGB: (8,)}


def as_picture(pixels, kind, depth, palette):
    if kind == PALETTE:
        return palette[pixels[:, :, 0]].astype(numpy.uint8)
    scaled = pixels * 255 // (2**depth - 1)
    return numpy.repeat(scaled, 3, axis=2)[:, :, :3].astype(numpy.uint8) \
        if kind == GREY else scaled.astype(numpy.uint8)


def every_kind_and_size(ours, rng):
    count = 0
    for kind, depths in DEPTHS.items():
        for depth in depths:
            for interlaced in (False, True):
                for width, height in ((1, 1), (2, 9), (7, 1), (8, 8), (13, 5),
                                      (33, 17), (150, 121)):
                    pixels = png_file.values(rng, width, height, kind, depth)
                    palette = (png_file.palette_of(rng, depth)
                               if kind == PALETTE else None)
                    data = png(pixels, kind, depth, palette, interlaced)
                    right = as_picture(pixels, kind, depth, palette)
                    theirs = Image.open(io.BytesIO(data)).convert("RGB")
                    assert numpy.array_equal(numpy.asarray(theirs), right)
                    name = f"{kind} {depth} {interlaced} {width}x{height}"
                    assert numpy.array_equal(ours.png(data, 3), right), name
                    mask = ours.png(data, 1)
                    if kind == RGB:
                        assert "three channels" in mask, mask
                    else:
                        assert numpy.array_equal(mask, pixels), name
                    count += 1
    print(f"png: {count} files, as pictures and as masks")


def refused(ours, data, words, channels=(1, 3)):
    for n in channels:
        answer = ours.png(data, n)
        assert isinstance(answer, str), f"'{words}': accepted"
        assert words in answer, f"'{answer}' does not say '{words}'"


def kinds_that_pillow_converts(ours, rng):
    """An alpha channel, 16 bits and transparency: pictures, but no masks."""
    clear = chunk(b"tRNS", b"\0\7")
    kinds = [(GREY_ALPHA, 8, b""), (RGB_ALPHA, 8, b""), (GREY, 16, b""),
             (RGB, 16, b""), (GREY_ALPHA, 16, b""), (RGB_ALPHA, 16, b""),
             (GREY, 8, clear)]
    for kind, depth, extra in kinds:
        for interlaced in False, True:
            for width, height in (1, 1), (3, 8), (9, 5), (71, 40):
                pixels = png_file.values(rng, width, height, kind, depth)
                data = png(pixels, kind, depth, None, interlaced, extra)
                right = Image.open(io.BytesIO(data)).convert("RGB")
                name = f"{kind} {depth} {interlaced} {width}x{height}"
                assert numpy.array_equal(ours.png(data, 3), right), name
    for kind in GREY_ALPHA, RGB_ALPHA:
        refused(ours, png(png_file.values(rng, 9, 8, kind, 8), kind), "alpha",
                (1,))
    refused(ours, png(png_file.values(rng, 9, 8, GREY, 16), GREY, 16),
            "16 bits", (1,))
    grey = png_file.values(rng, 9, 8, GREY, 8)
    assert numpy.array_equal(ours.png(png(grey, GREY, extra=clear), 1), grey)


def claims_and_damage(ours, rng):
    grey = png_file.values(rng, 40, 30, GREY, 8)
    data = png(grey, GREY)
    for size in (0, 7, 8, 20, 33, 60, len(data) // 2):
        refused(ours, data[:size], "PNG")
    for at in range(8, len(data) - 12): # of every chunk but the last one
        flipped = bytearray(data)
        flipped[at] ^= 1
        refused(ours, bytes(flipped), "PNG")
    for rest in data[:-12], data + b"beyond the end", data[:-7]:
        assert numpy.array_equal(ours.png(rest, 1), grey)
    for width, height, words in ((65535, 65535, "at most"), (0, 5, "PNG"),
                                 (70000, 3, "PNG"), (8000, 8000, "more than a PNG")):
        head = chunk(b"IHDR", struct.pack(
            ">IIBBBBB", width, height, 8, GREY, 0, 0, 0))
        refused(ours, data[:8] + head + data[33:], words)
    refused(ours, data[:8] + b"\0" * 40, "PNG")
    index = png_file.values(rng, 9, 9, PALETTE, 8)
    refused(ours, png(index, PALETTE, 8, None), "PNG", (3,))


def what_stands_beside_the_picture(ours, rng):
    """Notes of a few KB change nothing; what is larger than the limit is
    refused and held nowhere."""
    rgb = png_file.values(rng, 60, 50, RGB, 8)
    note = chunk(b"tEXt", b"Comment\0" + b"x" * 5000)
    assert numpy.array_equal(ours.png(png(rgb, RGB, extra=note), 3), rgb)
    gamma = chunk(b"gAMA", struct.pack(">I", 45455))
    assert numpy.array_equal(ours.png(png(rgb, RGB, extra=gamma), 3), rgb)
    large = chunk(b"tEXt", b"Comment\0" + b"x" * (5 << 20))
    refused(ours, png(rgb, RGB, extra=large), "more than 4 MiB", (3,))
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(64 << 20)))
    refused(ours, png(rgb, RGB, extra=bomb), "PNG")
    # The picture itself may be one chunk beyond that limit.
    noise = rng.integers(0, 256, (1400, 1400, 3)).astype(numpy.uint8)
    lines = b"".join(b"\0" + row.tobytes() for row in noise)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1400, 1400, 8, RGB, 0, 0, 0))
    large = (png_file.MAGIC + head + chunk(b"IDAT", zlib.compress(lines, 1))
             + chunk(b"IEND", b""))
    assert numpy.array_equal(ours.png(large, 3), noise)


def main():
    rng = numpy.random.default_rng(11)
    ours = Ours(sys.argv[1])
    every_kind_and_size(ours, rng)
    kinds_that_pillow_converts(ours, rng)
    claims_and_damage(ours, rng)
    what_stands_beside_the_picture(ours, rng)
    ours.close()


if __name__ == "__main__":
    main()
