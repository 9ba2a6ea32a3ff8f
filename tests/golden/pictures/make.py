# SPDX-License-Identifier: Apache-2.0
"""Make the pictures of this folder, and the digests of what Pillow decodes.

usage: make.py            writes the files that are missing, and digests.txt

A line of digests.txt is a file's name, the width and height, and the
BLAKE2b-256 of the RGB bytes of `Image.open(FILE).convert("RGB")`, row by row.
Recorded with Pillow 9.4.0 (libjpeg-turbo 2.1.5, libwebp 1.2.4). Never replace
a file: add one. `ycck.jpg` was made with libjpeg-turbo (JCS_YCCK), because
Pillow writes no such files.
"""
import hashlib
import io
import pathlib
import sys

import numpy
from PIL import Image

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "worker" / "transform"))
import png_file  # noqa: E402
from png_file import (GREY, GREY_ALPHA, PALETTE, RGB, RGB_ALPHA,  # noqa: E402
                      chunk, png)

# name: kind, depth, interlaced, chunks before the pixels
PNGS = {
    "grey16": (GREY, 16, False, b""),
    "grey16_interlaced": (GREY, 16, True, b""),
    "grey_alpha": (GREY_ALPHA, 8, False, b""),
    "grey_alpha16": (GREY_ALPHA, 16, False, b""),
    "rgb16": (RGB, 16, False, b""),
    "rgb16_interlaced": (RGB, 16, True, b""),
    "rgba": (RGB_ALPHA, 8, False, b""),
    "rgba_interlaced": (RGB_ALPHA, 8, True, b""),
    "rgba16": (RGB_ALPHA, 16, False, b""),
    "grey1": (GREY, 1, False, b""),
    "grey_transparent": (GREY, 8, False, chunk(b"tRNS", b"\0\7")),
    "rgb_transparent": (RGB, 8, False, chunk(b"tRNS", b"\0\1\0\2\0\3")),
    "palette": (PALETTE, 8, False, b""),
    "palette4_transparent": (PALETTE, 4, False, chunk(b"tRNS", bytes(9))),
}


def png_bytes(rng, kind, depth, interlaced, extra):
    values = png_file.values(rng, 45, 38, kind, depth)
    if kind == GREY and depth == 16:
        values //= 128  # 0 to 511: Pillow clips at 255
    palette = png_file.palette_of(rng, depth) if kind == PALETTE else None
    return png(values, kind, depth, palette, interlaced, extra)


def picture(rng, mode):
    bands = len(Image.new(mode, (1, 1)).getbands())
    y, x = numpy.mgrid[0:42, 0:55]
    planes = [(x * (3 + c) + y * (7 - c) + rng.integers(0, 9, x.shape)) % 256
              for c in range(bands)]
    return Image.fromarray(
        numpy.stack(planes, axis=2).astype(numpy.uint8), mode)


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def files(rng):
    for name, how in PNGS.items():
        yield f"{name}.png", png_bytes(rng, *how)
    yield "cmyk.jpg", saved(picture(rng, "CMYK"), "JPEG", quality=90)
    yield "cmyk_progressive.jpg", saved(
        picture(rng, "CMYK"), "JPEG", progressive=True)
    yield "webp_lossy.webp", saved(picture(rng, "RGB"), "WEBP", quality=80)
    yield "webp_lossy_alpha.webp", saved(
        picture(rng, "RGBA"), "WEBP", quality=60)
    yield "webp_lossless.webp", saved(picture(rng, "RGB"), "WEBP",
                                      lossless=True)
    yield "webp_lossless_alpha.webp", saved(picture(rng, "RGBA"), "WEBP",
                                            lossless=True)
    yield "webp_palette.webp", saved(
        picture(rng, "RGB").quantize(7).convert("RGB"), "WEBP", lossless=True)


def digest(path):
    image = Image.open(path).convert("RGB")
    sum_of = hashlib.blake2b(image.tobytes(), digest_size=32).hexdigest()
    return f"{path.name} {image.width} {image.height} {sum_of}\n"


def main():
    for name, data in files(numpy.random.default_rng(16)):
        if not (FOLDER / name).exists():
            (FOLDER / name).write_bytes(data)
    pictures = sorted(path for path in FOLDER.iterdir()
                      if path.suffix in (".jpg", ".png", ".webp"))
    (FOLDER / "digests.txt").write_text("".join(map(digest, pictures)))


if __name__ == "__main__":
    main()
