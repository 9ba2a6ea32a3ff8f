# SPDX-License-Identifier: Apache-2.0
"""Our steps against numpy's floats and, where it can be imported, torchvision.

usage: check_steps.py PIXELS [SEED]
"""
import math
import random
import sys

import numpy

import step_reference as ref
from compare_pillow import Ours
from step_reference import ONE

try:
    import torch
    from torchvision.transforms.v2 import InterpolationMode, functional
except ImportError:
    torch = None


def picture(rng, width, height):
    """Noise, smooth slopes, few levels, one level, black and white."""
    kind = rng.randrange(5)
    noise = numpy.frombuffer(rng.randbytes(width * height * 3), numpy.uint8)
    noise = noise.reshape(height, width, 3)
    y, x = numpy.mgrid[0:height, 0:width]
    slope = numpy.stack([x * 255 // width, y * 255 // height,
                         (x + y) * 255 // (width + height)], axis=2)
    return (noise, slope.astype(numpy.uint8), noise // 4 + 90,
            numpy.full_like(noise, rng.randrange(256)),
            (noise // 128 * 255).astype(numpy.uint8))[kind]


def factor(rng):
    return rng.choice((0, ONE, rng.randint(0, 3 * ONE)))


def affine_values(rng, width, height):
    kind = rng.randrange(4)
    fill = rng.choice((0, 255, rng.randrange(256)))
    if kind == 0:
        angle = rng.choice((0, 90, 45, 180, rng.uniform(-360, 360)))
        return (int(angle * ONE), 0, 0, ONE, 0, 0, 0, fill)
    if kind == 1:
        return (0, rng.randint(-width, width), rng.randint(-height, height),
                ONE, 0, 0, 0, fill)
    if kind == 2:
        return (0, 0, 0, ONE, rng.randint(-ONE, ONE), 0, 1, fill)
    return (int(rng.uniform(-180, 180) * ONE), rng.randint(-9, 9),
            rng.randint(-9, 9), rng.randint(ONE // 2, 2 * ONE),
            rng.randint(-ONE, ONE), rng.randint(-ONE, ONE), 0, fill)


def pad_values(rng, width, height):
    mode = rng.randrange(4)
    most = min(width, height) - (mode == 2)
    return tuple(rng.randint(0, most) for _ in range(4)) + (
        rng.randrange(256) if mode == 0 else 0, mode)


def erase_values(rng, width, height):
    w, h = rng.randint(1, width), rng.randint(1, height)
    return (rng.randint(0, width - w), rng.randint(0, height - h), w, h,
            rng.randrange(256), rng.randrange(256), rng.randrange(256))


def blur_values(rng, width, height):
    return (2 * rng.randint(0, min(15, width - 1)) + 1,
            2 * rng.randint(0, min(15, height - 1)) + 1,
            rng.randint(ONE // 10, 6 * ONE))


def values_of(kind, rng, width, height):
    own = {ref.PAD: pad_values, ref.ERASE: erase_values, ref.BLUR: blur_values,
           ref.AFFINE: affine_values}
    if kind in own:
        return own[kind](rng, width, height)
    if kind in (ref.BRIGHTNESS, ref.CONTRAST, ref.SATURATION, ref.SHARPNESS):
        return (factor(rng),)
    one = {ref.HUE: rng.randint(-ONE // 2, ONE // 2),
           ref.POSTERIZE: rng.randint(0, 8), ref.SOLARIZE: rng.randint(0, 256)}
    return (one[kind],) if kind in one else ()


def tv_affine(x, values):
    angle, right, down, scale, tan_x, tan_y, corner, fill = values
    return functional.affine(
        x, angle=angle / ONE, translate=[right, down], scale=scale / ONE,
        shear=[math.degrees(math.atan(t / ONE)) for t in (tan_x, tan_y)],
        interpolation=InterpolationMode.BILINEAR, fill=float(fill),
        center=[0, 0] if corner else None)


def torchvision_of(kind, values, pixels):
    """What torchvision makes of it; None where it has no such function."""
    f, x = functional, torch.from_numpy(pixels.copy()).permute(2, 0, 1)
    real = [v / ONE for v in values[:1]]
    modes = ("constant", "edge", "reflect", "symmetric")
    makes = {
        ref.VERTICAL_FLIP: lambda: f.vertical_flip(x),
        ref.PAD: lambda: f.pad(x, list(values[:4]), fill=values[4],
                               padding_mode=modes[values[5]]),
        ref.GREY: lambda: f.rgb_to_grayscale(x, 3),
        ref.BRIGHTNESS: lambda: f.adjust_brightness(x, *real),
        ref.CONTRAST: lambda: f.adjust_contrast(x, *real),
        ref.SATURATION: lambda: f.adjust_saturation(x, *real),
        ref.HUE: lambda: f.adjust_hue(x, *real),
        ref.BLUR: lambda: f.gaussian_blur(x, list(values[:2]),
                                          [values[2] / ONE] * 2),
        ref.ERASE: lambda: f.erase(
            x, values[1], values[0], values[3], values[2],
            torch.tensor(values[4:7], dtype=torch.uint8)[:, None, None]),
        ref.AFFINE: lambda: tv_affine(x, values),
        ref.SHARPNESS: lambda: f.adjust_sharpness(x, *real),
        ref.POSTERIZE: lambda: f.posterize(x, *values),
        ref.SOLARIZE: lambda: f.solarize(x, *values) if values[0] < 256 else x,
        ref.AUTOCONTRAST: lambda: f.autocontrast(x),
        ref.EQUALIZE: lambda: f.equalize(x),
    }
    return makes[kind]().permute(1, 2, 0).numpy()


def compare(name, ours, right):
    assert ours.shape == right.shape, f"{name}: {ours.shape} {right.shape}"
    worst = int(numpy.abs(ours.astype(int) - right.astype(int)).max())
    assert worst <= 1, f"{name}: a pixel differs by {worst} levels"
    return worst


def check(ours, rng, kind, sides):
    width, height = sides
    values = values_of(kind, rng, width, height)
    pixels = picture(rng, width, height)
    name = f"{ref.ALL[kind].__name__} {values} on {width}x{height}"
    result = ours.step(kind, values, pixels)
    worst = compare(name, result, ref.ALL[kind](pixels, *values))
    if torch is not None:
        compare(f"torchvision: {name}", result,
                torchvision_of(kind, values, pixels))
    if kind in (ref.VERTICAL_FLIP, ref.PAD, ref.AFFINE):
        mask = ours.step(kind, values, pixels[:, :, :1])
        by = ref.affine_mask if kind == ref.AFFINE else ref.ALL[kind]
        right = by(pixels[:, :, :1], *values)
        # The middle of two pixels belongs to either.
        assert (mask != right).mean() < 0.01, f"mask: {name}"
    return worst


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20250101
    rng = random.Random(seed)
    ours = Ours(sys.argv[1])
    for kind, function in ref.ALL.items():
        exact = 0
        cases = 60
        for i in range(cases):
            sides = ((1, 1), (3, 3), (2, 7))[i] if i < 3 else (
                rng.randint(2, 90), rng.randint(2, 90))
            exact += check(ours, rng, kind, sides) == 0
        print(f"{function.__name__}: {cases} cases, {exact} to the last bit")
    print("compared with torchvision too" if torch is not None else
          "torchvision: NOT COMPARED, it cannot be imported")
    ours.close()


if __name__ == "__main__":
    main()
