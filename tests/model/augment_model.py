# SPDX-License-Identifier: Apache-2.0
"""An independent model of the draws of ops that have steps.

Written from proto/PROTOCOL.md ("Draws", "Steps"). Each function takes a draw,
the picture's (width, height) and the parameters by name, as lists, and returns
the steps: (kind, values...).
"""

from fractions import Fraction
from math import isqrt

from forebay_model import U32, exp2, limited, log2, q32, side

ONE = 65536
(VERTICAL_FLIP, PAD, GREY, BRIGHTNESS, CONTRAST, SATURATION, HUE, BLUR, ERASE,
 AFFINE, SHARPNESS, POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE, MIXUP,
 CUTMIX) = range(1, 18)


def q16(x):
    return int(Fraction(x) * ONE)  # towards 0


def uniform(draw, low, high):
    return draw.between(q16(low), max(q16(low), q16(high)))


def around(draw, given):
    if len(given) == 2:
        return uniform(draw, *given)
    return uniform(draw, -abs(given[0]), abs(given[0]))


def towards_zero(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# ---- sine, cosine, tangent ----


def series(x, term, n):
    square, total = x * x >> 30, 0
    for _ in range(6):
        total += term
        term = -towards_zero(towards_zero(term * square, 2**30), n * (n + 1))
        n += 2
    return total


def radians(angle):
    return angle * 19190098069 >> 26


def sine(angle):
    quarter, within = divmod(angle % (360 * ONE), 90 * ONE)
    if quarter % 2:
        within = 90 * ONE - within
    value = (series(radians(within), radians(within), 2)
             if within <= 45 * ONE else
             series(radians(90 * ONE - within), 2**30, 1))
    return value if quarter < 2 else -value


def cosine(angle):
    return sine(angle + 90 * ONE)


def tangent(angle):
    return towards_zero(sine(angle) * ONE, cosine(angle))


# ---- the ops ----


def happens(draw, p):
    return draw.u32() < q32(p[0])


def vertical_flip(draw, picture, p):
    return [(VERTICAL_FLIP,)] if happens(draw, p) else []


def pad(draw, picture, padding, fill, mode):
    n = len(padding)
    return [(PAD, *(padding[i % n] for i in range(4)), fill[0], mode[0])]


def grayscale(draw, picture):
    return [(GREY,)]


def random_grayscale(draw, picture, p):
    return [(GREY,)] if happens(draw, p) else []


def jitter_value(draw, given, is_hue):
    if is_hue or len(given) == 2:
        return around(draw, given)
    a = given[0]
    return draw.between(ONE - q16(min(a, 1.0)), ONE + q16(a))


def colour_jitter(draw, picture, brightness, contrast, saturation, hue):
    order = [0, 1, 2, 3]
    for i in (3, 2, 1):
        k = draw.below(i + 1)
        order[i], order[k] = order[k], order[i]
    given = (brightness, contrast, saturation, hue)
    values = [jitter_value(draw, g, i == 3) if g else None
              for i, g in enumerate(given)]
    return [(BRIGHTNESS + k, values[k]) for k in order if given[k]]


def gaussian_blur(draw, picture, kernel, sigma):
    return [(BLUR, kernel[1], kernel[0], uniform(draw, *sigma))]


def random_erasing(draw, picture, p, scale, ratio, value):
    w, h = picture
    if not happens(draw, p):
        return []
    a, b = (limited(x, 0, U32) for x in scale)
    c, d = (limited(x, U32 // 256, U32 * 256) for x in ratio)
    for _ in range(10):
        area = w * h * draw.between(a, b)
        aspect = draw.between(log2(c), log2(d))
        bw, bh = side(area * exp2(-aspect)), side(area * exp2(aspect))
        if 1 <= bw < w and 1 <= bh < h:
            y = draw.below(h - bh + 1)
            level = [v if isinstance(v, int) else 0 for v in value]
            return [(ERASE, draw.below(w - bw + 1), y, bw, bh, *level)]
    return []


def rotate(draw, picture, degrees, fill):
    return [(AFFINE, -around(draw, degrees), 0, 0, ONE, 0, 0, 0, fill[0])]


def affine(draw, picture, degrees, translate, scale, shear, fill):
    angle = around(draw, degrees)
    right = down = tan_x = tan_y = 0
    size = ONE
    if translate:
        right, down = (draw.between(-most, most) for most in
                       (q32(t) * s // U32 for t, s in zip(translate, picture)))
    if scale:
        size = uniform(draw, *scale)
    if shear:
        tan_x = tangent(around(draw, shear[:2]))
    if len(shear) == 4:
        tan_y = tangent(around(draw, shear[2:]))
    return [(AFFINE, angle, right, down, size, tan_x, tan_y, 0, fill[0])]


# ---- ops of the device ----

LAMBDA_ONE = 2**24


def beta(draw, alpha):
    a = q16(alpha)
    for _ in range(256):
        if a >= ONE:
            x = draw.below(LAMBDA_ONE - 1) + 1
            chance = log2(max(1, x * (LAMBDA_ONE - x) >> 14))
            if log2(draw.u32() + 1) * ONE <= chance * (a - ONE):
                return x
            continue
        x = towards_zero(log2(draw.u32() + 1) * ONE, a)
        y = towards_zero(log2(draw.u32() + 1) * ONE, a)
        if power(x) + power(y) <= U32:
            less = power(-abs(x - y))
            share = (less << 24) // (U32 + less)
            return share if x < y else LAMBDA_ONE - share
    return LAMBDA_ONE // 2


def power(x):
    return exp2(x) if x >= -33 * U32 else 0


def horizontal_flip(draw, picture, p):
    return [("flip",)] if happens(draw, p) else []


def mixup(draw, picture, alpha, label):
    return [(MIXUP, beta(draw, alpha[0]))]


def cutmix(draw, picture, alpha, label):
    lam = beta(draw, alpha[0])
    edges = []
    for side_ in picture:
        at = draw.below(side_)
        half = isqrt(side_ * side_ * (LAMBDA_ONE - lam) // 2**26)
        edges.append((max(0, at - half), min(side_, at + half)))
    (left, right), (top, bottom) = edges
    return [(CUTMIX, left, top, right - left, bottom - top, lam)]


# ---- policies ----


def rounded(a, b):
    return (2 * a + b) // (2 * b)


def policy_step(choice, most, part, sign, picture, fill):
    """Of strength part = (bin, last bin)."""
    k, last = part
    shear, factor, degrees, bits, shifts = most
    turned = [0, 0, 0, ONE, 0, 0, 0, fill]
    if choice in (1, 2):
        turned[3 + choice] = sign * rounded(shear * k, last)
        turned[6] = 1
    elif choice in (3, 4):
        shift = shifts(picture[choice - 3])
        turned[choice - 2] = sign * int(shift * k / last)
    elif choice == 5:
        turned[0] = -sign * rounded(degrees * k, last)
    if 1 <= choice <= 5:
        return [(AFFINE, *turned)]
    if 6 <= choice <= 9:
        kind = (BRIGHTNESS, SATURATION, CONTRAST, SHARPNESS)[choice - 6]
        return [(kind, ONE + sign * rounded(factor * k, last))]
    return {0: [], 10: [(POSTERIZE, 8 - rounded(bits * k, last))],
            11: [(SOLARIZE, -(-255 * (last - k) // last))],
            12: [(AUTOCONTRAST,)], 13: [(EQUALIZE,)]}[choice]


WIDE = (64881, 64881, 135 * ONE, 6, lambda side: Fraction(32))
GENTLE = (19661, 58982, 30 * ONE, 4, lambda side: Fraction(150 * side, 331))


def trivial_augment_wide(draw, picture, bins, fill):
    choice, k = draw.below(14), draw.below(bins[0])
    sign = 1 - 2 * draw.below(2)
    return policy_step(choice, WIDE, (k, bins[0] - 1), sign, picture, fill[0])


def rand_augment(draw, picture, ops, magnitude, bins, fill):
    steps = []
    for _ in range(ops[0]):
        choice, sign = draw.below(14), 1 - 2 * draw.below(2)
        steps += policy_step(choice, GENTLE, (magnitude[0], bins[0] - 1), sign,
                             picture, fill[0])
    return steps
