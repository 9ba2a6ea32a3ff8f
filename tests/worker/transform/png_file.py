# SPDX-License-Identifier: Apache-2.0
"""PNG files of every kind, written from scratch: known values in, bytes out.

usage: png_file.py FOLDER   writes worker/transform/probes/*.png. Run it only
to add one: another file under an old name changes fingerprints.
"""
import pathlib
import struct
import sys
import zlib

import numpy

MAGIC = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}
# Where the passes of Adam7 begin, and how far apart their pixels are.
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
         (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(kind, data):
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def packed(row, depth):
    """One row of values [w, c] as bytes."""
    flat = row.reshape(-1).astype(numpy.uint32)
    if depth == 16:
        return flat.astype(">u2").tobytes()
    if depth == 8:
        return flat.astype(numpy.uint8).tobytes()
    bits = (flat[:, None] >> numpy.arange(depth)[::-1]) & 1
    return numpy.packbits(bits.reshape(-1).astype(numpy.uint8)).tobytes()


def paeth(a, b, c):
    p = int(a) + int(b) - int(c)
    distances = abs(p - int(a)), abs(p - int(b)), abs(p - int(c))
    return (a, b, c)[distances.index(min(distances))]


def filtered(line, before, step, kind):
    out = bytearray([kind])
    for i, x in enumerate(line):
        a = line[i - step] if i >= step else 0
        b = before[i]
        c = before[i - step] if i >= step else 0
        guess = (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]
        out.append((x - guess) % 256)
    return bytes(out)


def scanlines(pixels, depth):
    if pixels.shape[0] == 0 or pixels.shape[1] == 0:
        return b""
    step = max(1, depth * pixels.shape[2] // 8)
    lines = [packed(row, depth) for row in pixels]
    before = bytes(len(lines[0]))
    out = b""
    for y, line in enumerate(lines):
        out += filtered(line, before, step, y % 5)
        before = line
    return out


def png(pixels, kind, depth=8, palette=None, interlaced=False, extra=b""):
    """`pixels` are values [h, w, c] as they stand in the file."""
    height, width = pixels.shape[:2]
    assert pixels.shape[2] == CHANNELS[kind]
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced)
    data = b""
    if interlaced:
        for x, y, dx, dy in ADAM7:
            data += scanlines(pixels[y::dy, x::dx], depth)
    else:
        data = scanlines(pixels, depth)
    out = MAGIC + chunk(b"IHDR", head)
    if palette is not None:
        out += chunk(b"PLTE", palette.astype(numpy.uint8).tobytes())
    return (out + extra + chunk(b"IDAT", zlib.compress(data, 9))
            + chunk(b"IEND", b""))


def values(rng, width, height, kind, depth):
    """Smooth with some noise, so that filters and deflate have work."""
    top = 2**depth
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [((x * (c + 2) + y * 3) * top // 160
               + rng.integers(0, 2, x.shape)) % top
              for c in range(CHANNELS[kind])]
    return numpy.stack(planes, axis=2)


def palette_of(rng, depth):
    return rng.integers(0, 256, (2**depth, 3))


PROBES = {
    "grey_33x29": (GREY, 8, False), "grey1_37x21": (GREY, 1, False),
    "grey4_interlaced_35x27": (GREY, 4, True), "rgb_31x35": (RGB, 8, False),
    "rgb_interlaced_29x37": (RGB, 8, True), "rgb16_9x7": (RGB, 16, False),
    "palette_39x23": (PALETTE, 8, False), "alpha_8x9": (RGB_ALPHA, 8, False),
    "palette2_interlaced_27x25": (PALETTE, 2, True),
}


def main():
    rng = numpy.random.default_rng(5)
    for name, (kind, depth, interlaced) in PROBES.items():
        width, height = (int(n) for n in name.split("_")[-1].split("x"))
        palette = palette_of(rng, depth) if kind == PALETTE else None
        pixels = values(rng, width, height, kind, depth)
        data = png(pixels, kind, depth, palette, interlaced)
        path = pathlib.Path(sys.argv[1]) / f"png_{name}.png"
        path.write_bytes(data)


if __name__ == "__main__":
    main()
