#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write the goldens of canonical content, from proto/PROTOCOL.md alone.

An independent spelling of the split `train` of small.yaml, full.yaml,
array.yaml, bits.yaml, columns.yaml, list.yaml, ragged.yaml, sparse.yaml,
tokens.yaml, packed.yaml, yuv420.yaml, device.yaml, flat.yaml, deep.yaml,
fit.yaml and names.yaml:
run it in this folder, and compare before committing.
"""

import hashlib
import struct


def entry(key, value):
    return struct.pack("<HI", key, len(value)) + value


def integers(key, *values):
    return entry(key, struct.pack(f"<{len(values)}q", *values))


def reals(key, *values):
    return entry(key, struct.pack(f"<{len(values)}d", *values))


def listed(key, values):
    return entry(key, b"".join(entry(i + 1, v) for i, v in enumerate(values)))


def op(number, *params):
    return integers(1, number) + integers(2, 1) + entry(3, b"".join(params))


def field(name, origins, decode, wire, group=None, json_key=b"", dct=0,
          length=0, classes=0, smoothing=None, ops=(), mean=(), std=(),
          shape=None, maps=None, yuv420=False, device=(), pick=None,
          most=0, too_long=1, fit=0, names=()):
    return b"".join((
        entry(1, name), entry(2, group or name), listed(3, origins),
        integers(4, decode), integers(5, dct), entry(6, json_key),
        integers(7, wire), integers(8, length), integers(9, classes),
        integers(10, smoothing is not None), reals(11, smoothing or 0),
        listed(12, ops), integers(13, len(mean) > 0), reals(14, *mean),
        reals(15, *std), b"" if shape is None else integers(16, *shape),
        integers(17, most) if most else b"",
        integers(18, too_long) if too_long > 1 else b"",
        b"" if pick is None else integers(19, pick),
        b"" if maps is None else integers(22, maps),
        listed(24, device) if device else b"",
        integers(25, 1) if yuv420 else b"",
        integers(26, fit) if fit else b"",
        listed(27, names) if names else b""))


def content(source, order, batch, bad_samples, fields):
    """order: shuffle, block, lanes, slices, last"""
    numbers = (1, 1, source, *order, batch, bad_samples)
    return b"".join(integers(i + 1, n) for i, n in enumerate(numbers)
                    ) + listed(11, fields)


RGB8, LABEL, NUMBER, BYTES, ARRAY, TEXT, MAPS, TOKENS = 1, 2, 3, 4, 6, 7, 9, 10
SPARSE = 8
U8, U16, I32, F16, F32, U32 = 1, 2, 3, 5, 7, 8
DOCUMENTS = 11

SMALL = content(1, (2, 0, 0, 0, 1), 64, 1, [
    field(b"label", [b"folder"], LABEL, U8, classes=10)])

FULL = content(2, (3, 4, 16, 4, 3), 24, 2, [
    field(b"blob", [b"bin"], BYTES, U8, length=16),
    field(b"image", [b"jpg", b"jpeg"], RGB8, U8, group=b"view", dct=1, ops=[
        op(1, integers(1, 176, 176), reals(2, 0.08, 1),
           reals(3, 0.75, 1.3333)),
        op(5, reals(1, 0.25))],
        mean=(0.4, 0.5, 0.6), std=(0.25, 0.25, 0.25)),
    field(b"kind", [b"cls"], LABEL, U8, classes=10),
    field(b"label", [b"cls"], LABEL, U16, classes=1000, smoothing=0.1),
    field(b"score", [b"json"], NUMBER, F32, json_key=b"s")])

ARRAYS = content(2, (2, 0, 0, 0, 1), 8, 1, [
    field(b"count", [b"n.npy"], ARRAY, F32, shape=()),
    field(b"depth", [b"depth.npy", b"npy"], ARRAY, U16, shape=(240, 320, 1))])

BITS = content(2, (2, 0, 0, 0, 1), 8, 1, [
    field(b"roads", [b"roads.npy"], ARRAY, U8, shape=(240, 320, 12), maps=12),
    field(b"things", [b"person.png", b"car.png"], MAPS, U8, group=b"view",
          maps=2, ops=[op(4, integers(1, 64, 96))])])

RAGGED = content(2, (2, 0, 0, 0, 1), 8, 1, [
    field(b"blob", [b"bin"], BYTES, U8, most=300),
    field(b"ids", [b"npy"], ARRAY, I32, shape=(), most=100, too_long=2),
    field(b"words", [b"txt"], TEXT, U8, most=64)])

SPARSE_ROWS = content(2, (2, 0, 0, 0, 1), 8, 1, [
    field(b"image", [b"image.npz"], SPARSE, U8, shape=(28, 28), most=784),
    field(b"words", [b"tfidf.npz", b"npz"], SPARSE, F16, shape=(70000,),
          most=500)])

SEQUENCES = content(6, (2, 0, 0, 0, 1), 8, 1, [
    field(b"labels", [b"target"], TOKENS, U32, length=2048),
    field(b"tokens", [b"input"], TOKENS, U16, length=2048)]) + entry(
        13, integers(1, 2) + integers(2, U16) + integers(3, 2048)
        + integers(4, 1) + entry(5, b"tokens"))

PACKED = content(6, (2, 0, 0, 0, 1), 8, 1, [
    field(b"labels", [b"target"], TOKENS, U16, length=2048),
    field(b"mask", [b"documents"], DOCUMENTS, U16, most=2048),
    field(b"tokens", [b"input"], TOKENS, U16, length=2048)]) + entry(
        13, integers(1, 1) + integers(2, U16) + integers(3, 2048)
        + integers(4, 1) + entry(5, b"")) + entry(
            14, integers(1, 1) + integers(2, 50256) + integers(3, 3))

COLUMNS = content(3, (3, 2, 4, 8, 1), 65536, 2, [
    field(b"click", [b"click", b"label.v2"], LABEL, U8, classes=2),
    field(b"dense", [b"dense"], ARRAY, F32, shape=(13,)),
    field(b"price", [b"price"], NUMBER, F32)])

LIST = content(4, (1, 0, 0, 0, 2), 8, 1, [
    field(b"image", [b"image.jpg", b"image.png"], RGB8, U8, dct=2, ops=[
        op(3, integers(1, 32, 48))]),
    field(b"label", [b"breed"], LABEL, U8, classes=37),
    field(b"rating", [b"ratings"], NUMBER, U8, json_key=b"all.0", pick=1)
]) + listed(19, [b"image", b"mask"])

YUV420 = content(1, (2, 0, 0, 0, 1), 8, 1, [
    field(b"image", [b"jpg", b"png"], RGB8, U8, dct=2, yuv420=True, ops=[
        op(2, integers(2, 32, 48)),
        op(7, integers(1, 3), integers(2, 9), integers(3, 0))])])

DEVICE = content(1, (2, 0, 0, 0, 1), 8, 1, [
    field(b"image", [b"jpg"], RGB8, U8, dct=2, mean=(0.5, 0.5, 0.5),
          std=(0.25, 0.25, 0.25), ops=[op(4, integers(1, 64, 96))], device=[
              op(33, reals(1, 0.5)),
              op(35, reals(1, 0.4), reals(2, 0.5, 2), reals(4, 0.1)),
              op(32),
              op(36, reals(1, 0.25), reals(2, 0.02, 0.33), reals(3, 0.3, 3.3),
                 reals(4, -1, 0, 2)),
              op(37, reals(1, 0.2), integers(2, 1))]),
    field(b"label", [b"folder"], LABEL, U8, classes=10, smoothing=0.1),
    field(b"mask", [b"png"], 5, U8, group=b"image",
          ops=[op(4, integers(1, 64, 96))], device=[op(34, reals(1, 0.5))]),
    field(b"other", [b"jpg"], RGB8, U8, dct=2, mean=(0.5, 0.5, 0.5),
          std=(0.25, 0.25, 0.25), ops=[op(3, integers(1, 64, 64))])])

FLAT = content(1, (2, 0, 0, 0, 1), 64, 1, [
    field(b"label", [b"cls"], LABEL, U8, classes=10)]) + integers(22, 0)

DEEP = SMALL + integers(22, 3)

NAMES = content(4, (2, 0, 0, 0, 1), 8, 1, [
    field(b"label", [b"breed"], LABEL, U8, classes=3, smoothing=0.1,
          names=[b"tabby", b"3", "Sch\u00e4fer hund".encode()]),
    field(b"mood", [b"mood"], LABEL, U16, classes=300,
          names=[b"happy", b"sad"])]) + listed(19, [b"image"])
FIT = content(5, (2, 0, 0, 0, 1), 8, 1, [
    field(b"image", [b"images.jpg"], RGB8, U8, dct=2,
          ops=[op(3, integers(1, 32, 32))]),
    field(b"maps", [b"a.png", b"b.png"], MAPS, U8, group=b"image", maps=2,
          fit=1, ops=[op(3, integers(1, 32, 32))]),
    field(b"mask", [b"masks.png"], 5, U8, group=b"image", fit=1,
          ops=[op(3, integers(1, 32, 32))]),
    field(b"same", [b"masks.png"], 5, U8, group=b"image",
          ops=[op(3, integers(1, 32, 32))])])

for path, data in (("small.hex", SMALL), ("full.hex", FULL),
                   ("array.hex", ARRAYS), ("bits.hex", BITS),
                   ("list.hex", LIST), ("columns.hex", COLUMNS),
                   ("ragged.hex", RAGGED), ("sparse.hex", SPARSE_ROWS),
                   ("tokens.hex", SEQUENCES), ("packed.hex", PACKED),
                   ("yuv420.hex", YUV420),
                   ("device.hex", DEVICE), ("flat.hex", FLAT),
                   ("deep.hex", DEEP), ("names.hex", NAMES),
                   ("fit.hex", FIT)):
    with open(path, "w", encoding="ascii") as file:
        digest = hashlib.blake2b(data, digest_size=32)
        file.write(f"{data.hex()}\n{digest.hexdigest()}\n")
