#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare photo format 1 with the model.

Usage: check_photo.py FRAMES PROGRAM SEED CASES.

PROGRAM prints random pictures with their payloads
(tests/codec/photo_dump.c); FRAMES holds the golden chunks, whose
pictures are made here again.
"""

import pathlib
import subprocess
import sys

import photo_model

PREFIX = 64
# name: rows, height, width, channels; as in tests/proto/test_frame.c
GOLDEN = {"chunk_photo": (2, 5, 20, 3), "chunk_photo_grey": (1, 34, 258, 1),
          "chunk_photo_yuv420": (1, 34, 258, photo_model.YUV420)}


def golden_pixels(rows, height, width, channels):
    if channels == photo_model.YUV420:
        size = rows * photo_model.yuv_bytes(width, height)
        return bytes((i // 7 + i % 3) % 256 for i in range(size))
    return bytes((9 * row + x // 2 + 3 * y + 40 * c + x * y % 3) % 256
                 for row in range(rows) for y in range(height)
                 for x in range(width) for c in range(channels))


def check_golden(folder):
    for name, (rows, height, width, channels) in GOLDEN.items():
        text = (folder / f"{name}-v1.hex").read_text()
        frame = bytes.fromhex(text)
        raw = golden_pixels(rows, height, width, channels)
        right = photo_model.encode(raw, width, height, channels)
        if frame[PREFIX:] != right or len(right) > len(raw):
            sys.exit(f"{name}: the payload is not the model's")


def check_random(program, seed, cases):
    lines = subprocess.run([program, seed, cases], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    for line in lines:
        *sizes, raw, payload = line.split()
        right = photo_model.encode(bytes.fromhex(raw), *map(int, sizes))
        if bytes.fromhex(payload) != right:
            sys.exit(f"{sizes}: the payload is not the model's\n{raw}")
    if len(lines) != int(cases):
        sys.exit(f"{len(lines)} pictures, expected {cases}")


def main():
    folder, program, seed, cases = sys.argv[1:]
    check_golden(pathlib.Path(folder))
    check_random(program, seed, cases)


if __name__ == "__main__":
    main()
