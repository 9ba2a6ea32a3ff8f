#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write the goldens of the manifest, from proto/PROTOCOL.md alone.

An independent spelling of the shards of the worked examples: run it in this
folder, and compare before committing.
"""

import hashlib
import struct


def entry(key, value):
    return struct.pack("<HI", key, len(value)) + value


def number(key, value):
    return entry(key, struct.pack("<q", value))


def column(key, letter, values):
    return entry(key, struct.pack(f"<{len(values)}{letter}", *values))


def shard(kind, name, size, total, suffixes, samples):
    """samples: (key, class, [(suffix, offset, size), ...])"""
    members = [m for s in samples for m in s[2]]
    out = number(1, 1) + number(2, kind) + entry(3, name) + number(4, size)
    if total is not None:
        out += entry(5, total)
    listed = b"".join(entry(i + 1, s) for i, s in enumerate(suffixes))
    out += entry(6, listed)
    out += entry(7, b"".join(s[0] + b"\0" for s in samples))
    if kind == 1:
        out += column(8, "I", [s[1] for s in samples])
    out += column(9, "H", [len(s[2]) for s in samples])
    out += column(10, "B", [suffixes.index(m[0]) for m in members])
    if kind == 2:
        out += column(11, "Q", [m[1] for m in members])
    return out + column(12, "Q", [m[2] for m in members])


def blake(data):
    return hashlib.blake2b(data, digest_size=32).digest()


TAR = shard(
    2, b"t-0.tar", 5120, None, [b"jpg", b"cls"],
    [(b"0001", 0, [(b"jpg", 512, 5), (b"cls", 1536, 1)]),
     (b"0002", 0, [(b"jpg", 2560, 700)])])
LENGTHS = TAR + column(15, "I", [0, 70000])
FOLDER = shard(
    1, b"part-0000000", 12, b"\xab" * 16, [b"JPG", b"jpg"],
    [(b"a/1", 0, [(b"JPG", 0, 5)]), (b"b/1", 1, [(b"jpg", 0, 7)])])

TOKENS = (
    number(1, 1) + number(2, 6) + entry(3, b"c.bin") + number(4, 1000)
    + number(25, 3) + number(26, 2) + number(27, 4) + number(28, 1)
    + column(29, "Q", [0, 100]) + column(30, "Q", [21, 5]))
PACKED = TOKENS + entry(31, bytes([2, 20, 4]))



def numpy_column(key, name, dtype, row, offset, part=b""):
    return entry(key, entry(1, name) + entry(2, dtype) + column(3, "q", row)
                 + number(4, offset) + part)


COLUMNS = (
    number(1, 1) + number(2, 3) + entry(3, b"day-00") + number(4, 26256)
    + number(13, 1000) + entry(14, numpy_column(1, b"a", b"<i2", [], 128)
                               + numpy_column(2, b"b", b">f4", [2, 3], 128)))

RAGGED = (
    number(1, 1) + number(2, 3) + entry(3, b"day-00") + number(4, 28264)
    + number(13, 1000) + entry(14, numpy_column(
        1, b"a.offsets", b"<i8", [], 128, number(5, 1)) + numpy_column(
            2, b"a.values", b"<i4", [], 128, number(5, 2) + number(6, 5000))))

CSR = (
    number(1, 1) + number(2, 3) + entry(3, b"day-00") + number(4, 48900)
    + number(13, 1000) + entry(14, numpy_column(
        1, b"a", b"<f4", [], 24300, number(5, 3) + number(6, 5000)
        + number(7, 300) + entry(8, b"<i4") + number(9, 128)
        + entry(10, b"<i4") + number(11, 20200))))

LIST = shard(
    4, b"part-0000000", 45, None, [b"image.jpg", b"label"],
    [(b"2", 0, [(b"image.jpg", 0, 40), (b"label", 0, 2)]),
     (b"5", 0, [(b"label", 0, 3)])]) + (
         column(20, "B", [0, 1, 1]) + column(21, "I", [7, 2, 3])
         + entry(22, b"a/1.jpg" b"17" b"o,k"))

for path, data in (
        ("tar.hex", TAR), ("lengths.hex", LENGTHS), ("list.hex", LIST),
        ("tokens.hex", TOKENS), ("packed.hex", PACKED),
        ("columns.hex", COLUMNS), ("ragged.hex", RAGGED),
        ("csr.hex", CSR),
        ("folder.hex", FOLDER),
        ("digest.hex", blake(blake(FOLDER) + blake(TAR)))):
    with open(path, "w", encoding="ascii") as file:
        file.write(data.hex() + "\n")
