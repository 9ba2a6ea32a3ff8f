# SPDX-License-Identifier: Apache-2.0
"""An independent model of photo format 1, written from PROTOCOL.md.

It is simple and slow, and shares nothing with the C code.
"""

TILE_W, TILE_H, ALIGN = 256, 32, 16
YUV420 = 420  # in place of the number of channels


def padded(data, to):
    return data + bytes(-len(data) % to)


def planes_of(pixels, channels):
    """One list of numbers for each plane; pixels are tuples of bytes."""
    if channels == 1:
        return [[p[0] for p in pixels]]
    return [[g for _, g, _ in pixels],
            [(r - g) % 256 for r, g, _ in pixels],
            [(b - g) % 256 for _, g, b in pixels]]


def predicted(plane, width, x, y):
    left = plane[y * width + x - 1] if x > 0 else 0
    up = plane[(y - 1) * width + x] if y > 0 else 0
    corner = plane[(y - 1) * width + x - 1] if x > 0 and y > 0 else 0
    return left + up - corner


def folded(residue):
    signed = residue - 256 if residue > 127 else residue
    return 2 * signed if signed >= 0 else -2 * signed - 1


def group(numbers):
    """The width of 16 numbers, and their bytes."""
    width = max(numbers).bit_length()
    bits = sum(n << (i * width) for i, n in enumerate(numbers))
    return width, bits.to_bytes(2 * width, "little")


def pack(plane, width, height):
    def number(x, y):
        if x >= width or y >= height:
            return 0
        residue = plane[y * width + x] - predicted(plane, width, x, y)
        return folded(residue % 256)

    groups = [group([number(x + i % 8, y + i // 8) for i in range(16)])
              for y in range(0, height, 2) for x in range(0, width, 8)]
    widths = [w for w, _ in groups] + [0]
    nibbles = bytes(low | high << 4
                    for low, high in zip(widths[::2], widths[1::2]))
    return padded(nibbles, 4) + b"".join(data for _, data in groups)


def tiles(width, height):
    for y in range(0, height, TILE_H):
        for x in range(0, width, TILE_W):
            yield x, y, min(TILE_W, width - x), min(TILE_H, height - y)


def half(n):
    return (n + 1) // 2


def yuv_bytes(width, lines):
    return width * lines + 2 * half(width) * half(lines)


def yuv_planes(image, width, height, tile):
    """Width, height and numbers of each plane of a tile of yuv420."""
    x0, y0, w, h = tile
    at = yuv_bytes(width, y0)
    lines = min(TILE_H, height - y0)
    for step in (1, 2, 2):
        across, down = -(-width // step), -(-lines // step)
        rows = [image[at + y * across + x0 // step:][:-(-w // step)]
                for y in range(-(-h // step))]
        yield -(-w // step), -(-h // step), b"".join(rows)
        at += across * down


def encode_yuv_tile(image, width, height, tile):
    return padded(b"".join(
        pack(plane, w, h)
        for w, h, plane in yuv_planes(image, width, height, tile)), ALIGN)


def encode_tile(image, width, channels, tile):
    x0, y0, w, h = tile
    pixels = [image[((y0 + y) * width + x0 + x) * channels:][:channels]
              for y in range(h) for x in range(w)]
    return padded(b"".join(pack(plane, w, h)
                           for plane in planes_of(pixels, channels)), ALIGN)


def encode(raw, width, height, channels):
    """The payload of pictures that lie one after another in `raw`."""
    yuv = channels == YUV420
    size = yuv_bytes(width, height) if yuv else width * height * channels

    def tile_of(image, tile):
        return (encode_yuv_tile(image, width, height, tile) if yuv
                else encode_tile(image, width, channels, tile))

    data = [tile_of(raw[at:at + size], tile)
            for at in range(0, len(raw), size)
            for tile in tiles(width, height)]
    at = len(padded(bytes(4 * (len(data) + 1)), ALIGN))
    table = b""
    for tile in data:
        table += (at // ALIGN).to_bytes(4, "little")
        at += len(tile)
    table += (at // ALIGN).to_bytes(4, "little")
    return padded(table, ALIGN) + b"".join(data)
