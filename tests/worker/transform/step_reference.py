# SPDX-License-Identifier: Apache-2.0
"""A reference of the steps: torchvision's arithmetic in numpy's floats.
Pictures are [h, w, 3] of uint8."""
import math

import numpy

(VERTICAL_FLIP, PAD, GREY, BRIGHTNESS, CONTRAST, SATURATION, HUE, BLUR, ERASE,
 AFFINE, SHARPNESS, POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE) = range(1, 16)
ONE = 65536


def clipped(x):
    return numpy.clip(x, 0, 255).astype(numpy.uint8)  # rounds down


def grey_of(x):
    weights = numpy.array([0.2989, 0.587, 0.114])
    return numpy.floor((x.astype(float) * weights).sum(axis=2) + 1e-9)


def blend(x, other, factor):
    return clipped(x.astype(float) * factor + other * (1 - factor) + 1e-9)


def vertical_flip(x):
    return x[::-1]


def pad(x, left, top, right, bottom, fill, mode):
    how = ("constant", "edge", "reflect", "symmetric")[mode]
    more = {"constant_values": fill} if mode == 0 else {}
    return numpy.pad(x, ((top, bottom), (left, right), (0, 0)), how, **more)


def grey(x):
    return numpy.repeat(grey_of(x)[:, :, None], 3, axis=2).astype(numpy.uint8)


def brightness(x, factor):
    return clipped(x.astype(float) * (factor / ONE) + 1e-9)


def contrast(x, factor):
    return blend(x, grey_of(x).mean(), factor / ONE)


def saturation(x, factor):
    return blend(x, grey_of(x)[:, :, None], factor / ONE)


def hue(x, turn):
    rgb = x.astype(float) / 255
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    most, least = rgb.max(axis=2), rgb.min(axis=2)
    span = most - least
    by = numpy.where(span == 0, 1, span)
    rc, gc, bc = ((most - c) / by for c in (r, g, b))
    h = numpy.where(most == r, bc - gc,
                    numpy.where(most == g, 2 + rc - bc, 4 + gc - rc))
    h = numpy.where(span == 0, 0, h / 6 % 1)
    h = (h + turn / ONE) % 1
    s = span / numpy.where(most == 0, 1, most)
    sector = numpy.floor(h * 6)
    f = h * 6 - sector
    p, q, t = most * (1 - s), most * (1 - s * f), most * (1 - s * (1 - f))
    sector = sector.astype(int) % 6
    channels = ((most, q, p, p, t, most), (t, most, most, q, p, p),
                (p, p, t, most, most, q))
    out = numpy.stack([numpy.choose(sector, c) for c in channels], axis=2)
    return (out * 255.999).astype(numpy.uint8)


def bell(size, sigma):
    x = numpy.arange(size) - size // 2
    weights = numpy.exp(-0.5 * (x / sigma)**2)
    return weights / weights.sum()


def blur(x, width, height, sigma):
    across, down = bell(width, sigma / ONE), bell(height, sigma / ONE)
    edge = ((height // 2,) * 2, (width // 2,) * 2, (0, 0))
    wide = numpy.pad(x.astype(float), edge, "reflect")
    rows = sum(w * wide[i:i + x.shape[0]] for i, w in enumerate(down))
    both = sum(w * rows[:, i:i + x.shape[1]] for i, w in enumerate(across))
    return numpy.round(both).astype(numpy.uint8)


def erase(x, left, top, width, height, *value):
    out = x.copy()
    out[top:top + height, left:left + width] = value
    return out


def source_places(shape, values):
    """Where each pixel of the result comes from."""
    angle, right, down, scale, tan_x, tan_y, corner, _ = values
    height, width = shape[:2]
    turn = math.radians(angle / ONE)
    tan_x, tan_y, scale = tan_x / ONE, tan_y / ONE, scale / ONE
    shear_y = math.atan(tan_y)
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -a * tan_x - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -c * tan_x + math.cos(turn)
    m = numpy.array([[d, -b], [-c, a]]) / scale
    centre = numpy.array([-width / 2, -height / 2] if corner else [0, 0])
    y, x = numpy.mgrid[0:height, 0:width] + 0.5
    at = numpy.stack([x - width / 2, y - height / 2], axis=2)
    at = (at - centre - (right, down)) @ m.T + centre
    return at[..., 0] + width / 2 - 0.5, at[..., 1] + height / 2 - 0.5


def taken(x, column, row):
    """Pixels at whole places and whether they are inside."""
    height, width = x.shape[:2]
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    pixels = x[numpy.clip(row, 0, height - 1), numpy.clip(column, 0, width - 1)]
    return pixels * inside[..., None], inside


def affine(x, *values):
    fill = values[7]
    column, row = source_places(x.shape, values)
    left, top = numpy.floor(column).astype(int), numpy.floor(row).astype(int)
    fx, fy = column - left, row - top
    mixed, share = 0.0, 0.0
    for dx, dy, weight in ((0, 0, (1 - fx) * (1 - fy)), (1, 0, fx * (1 - fy)),
                           (0, 1, (1 - fx) * fy), (1, 1, fx * fy)):
        pixels, inside = taken(x, left + dx, top + dy)
        mixed = mixed + weight[..., None] * pixels
        share = share + weight * inside
    out = (mixed - fill) * share[..., None] + fill
    return numpy.round(out).astype(numpy.uint8)


def affine_mask(x, *values):
    column, row = source_places(x.shape, values)
    pixels, inside = taken(x, numpy.floor(column + 0.5).astype(int),
                           numpy.floor(row + 0.5).astype(int))
    return numpy.where(inside[..., None], pixels, values[7]).astype(numpy.uint8)


def sharpness(x, factor):
    height, width = x.shape[:2]
    out = x.astype(float)
    if height > 2 and width > 2:
        smooth = sum((5 if dx == dy == 1 else 1)
                     * out[dy:height - 2 + dy, dx:width - 2 + dx]
                     for dy in range(3) for dx in range(3)) / 13
        inner = out[1:-1, 1:-1]
        inner += (numpy.round(smooth) - inner) * (1 - factor / ONE)
    return clipped(out + 1e-9)


def posterize(x, bits):
    return x & ((0xff00 >> bits) & 255)


def solarize(x, threshold):
    return numpy.where(x >= threshold, 255 - x, x).astype(numpy.uint8)


def autocontrast(x):
    low = x.min(axis=(0, 1)).astype(float)
    high = x.max(axis=(0, 1)).astype(float)
    same = high == low
    low, scale = numpy.where(same, 0, low), numpy.where(
        same, 1, 255 / numpy.where(same, 1, high - low))
    return clipped((x - low) * scale + 1e-9)


def equalize(x):
    out = x.copy()
    for c in range(3):
        counts = numpy.bincount(x[..., c].ravel(), minlength=256)
        step = (counts.sum() - counts[counts.nonzero()[0][-1]]) // 255
        if step > 0:
            below = numpy.concatenate([[0], counts.cumsum()[:-1]])
            curve = numpy.minimum((below + step // 2) // step, 255)
            out[..., c] = curve[x[..., c]]
    return out


ALL = {VERTICAL_FLIP: vertical_flip, PAD: pad, GREY: grey,
       BRIGHTNESS: brightness, CONTRAST: contrast, SATURATION: saturation,
       HUE: hue, BLUR: blur, ERASE: erase, AFFINE: affine,
       SHARPNESS: sharpness, POSTERIZE: posterize, SOLARIZE: solarize,
       AUTOCONTRAST: autocontrast, EQUALIZE: equalize}
