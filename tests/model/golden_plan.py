#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden vectors of the plan: golden_plan.py [--check] DIR.

Writes the files that the C tests read, from the model alone; --check instead
fails if a file is not what the model says today. Only a new order version may
change them.
"""

import pathlib
import random
import sys

import forebay_model as model

SHARDS = [10, 25, 0, 7, 30, 12, 18, 41, 3, 27]


def line(*fields):
    return " ".join(str(f) for f in fields)


def philox():
    """Random123's known answers (kat_vectors, philox4x32 10), not ours."""
    yield "# counter x4, key x2, words x4"
    yield ("0 0 0 0 0 0 "
           "0x6627e8d5 0xe169c58d 0xbc57ac4c 0x9b00dbd8")
    ones = " ".join(["0xffffffff"] * 6)
    yield f"{ones} 0x408f276d 0x41c83b0e 0xa20bc7c6 0x6d5451fd"
    yield ("0x243f6a88 0x85a308d3 0x13198a2e 0x03707344 0xa4093822 0x299f31d0 "
           "0xd16cfe09 0x94fdcceb 0x5001e420 0x24126ea1")


def draw():
    yield "# seed epoch sample group op occurrence, 6 words, n, 3 below(n)"
    names = [("image", "random_resized_crop", 0), ("mask", "random_crop", 1),
             ("é", "horizontal_flip", 2**32 - 1)]
    for seed, epoch, sample in ((0, 0, 0), (42, 3, 1000),
                                (2**64 - 1, 2**40 + 5, 2**40 + 7)):
        for name in names:
            for n in (1, 10, 3 * 2**30, 2**32, 2**32 + 1, 3 * 2**62):
                d = model.Draw(seed, epoch, sample, *name)
                words = [d.u32() for _ in range(6)]
                yield line(seed, epoch, sample, *name, *words, n,
                           *[d.below(n) for _ in range(3)])


def permutation():
    yield "# seed epoch purpose index n position element"
    for n in (1, 2, 3, 4, 5, 7, 9, 10, 100, 1023, 1024, 1025, 1281167, 10**9,
              2**32, 2**40 + 1, 2**63 - 1, 2**63):
        for seed, epoch, purpose, index in (
                (0, 0, "samples", 0), (42, 7, "blocks", 0),
                (2**64 - 1, 2**63 + 1, "block", 2**33 + 5)):
            key = model.permutation_key(seed, epoch, purpose)
            p = model.Permutation(key, index, n)
            for position in sorted({0, n // 3, n // 2, n - 1}):
                yield line(seed, epoch, purpose, index, n, position,
                           p.at(position))


def order_line(shuffle, last, batch, block, lanes, slices, epoch, step):
    shuffles = {"none": 1, "full": 2, "block": 3}
    lasts = {"drop": 1, "pad": 2, "short": 3}
    o = model.Order(sum(SHARDS), batch, shuffle, last, SHARDS, block, lanes,
                    slices, 42, epoch)
    assert step < o.steps
    rows = o.batch(step)
    return line(shuffles[shuffle], lasts[last], batch, block, lanes, slices,
                42, epoch, ",".join(map(str, SHARDS)), o.steps, step,
                len(rows), *rows)


def order():
    yield ("# shuffle last batch block lanes slices seed epoch shards, "
           "steps, step, rows, samples")
    for shuffle in ("none", "full", "block"):
        for last, step in (("drop", 0), ("drop", 6), ("pad", 7),
                           ("short", 7)):
            yield order_line(shuffle, last, 24, 2, 0, 0, 3, step)
    for block, lanes, slices, step in ((1, 1, 1, 3), (1, 3, 4, 5), (3, 2, 2, 6),
                                       (10, 100, 24, 4), (99, 0, 12, 0)):
        yield order_line("block", "drop", 24, block, lanes, slices, 2**40,
                         step)
    yield order_line("block", "pad", 500, 2, 0, 0, 1, 0)
    yield order_line("full", "short", 500, 2, 0, 0, 1, 0)


def buckets():
    yield ("# shuffle last batch seed epoch, the bucket of each sample, steps, "
           "step, rows, samples")
    source = random.Random(3)
    some = [source.choice((0, 0, 0, 1, 2, 2, 4)) for _ in range(173)]
    for name, shuffle in (("none", 1), ("full", 2)):
        for last, batch, step in (
                ("drop", 24, 0), ("drop", 24, 6), ("drop", 8, 20),
                ("pad", 24, 7), ("short", 24, 7), ("pad", 500, 0),
                ("short", 1, 172)):
            for epoch in (0, 3):
                o = model.Order(len(some), batch, name, last, seed=42,
                                epoch=epoch, buckets=some)
                rows = o.batch(step)
                yield line(shuffle, {"drop": 1, "pad": 2, "short": 3}[last],
                           batch, 42, epoch, "".join(map(str, some)), o.steps,
                           step, len(rows), *rows)


def fixed():
    yield "# log2 x result | exp2 x result, all Q32"
    source = random.Random(1)
    for j in range(257):
        yield line("exp2", j << 24, model.exp2(j << 24))
    for _ in range(200):
        x = source.getrandbits(source.randint(1, 64)) or 1
        yield line("log2", x, model.log2(x))
        x = source.randrange(-33 << 32, 31 << 32)
        yield line("exp2", x, model.exp2(x))


def reals(*numbers):
    return [float(x).hex() for x in numbers]


def crop():
    yield ("# resized sample w h scale x2 ratio x2, x y w h, p, flip | "
           "exact sample w h cw ch, x y, center x y, p, flip")
    source = random.Random(2)
    pictures = [(500, 375), (375, 500), (1, 1), (1, 65535), (65535, 65535),
                (3000, 200), (224, 224)]
    params = [(0.08, 1, 3 / 4, 4 / 3), (0.35, 0.35, 1, 1),
              (0.0001, 1, 0.01, 100), (1, 1, 0.9, 1.1)]
    for sample in range(150):
        w, h = pictures[sample % len(pictures)]
        numbers = params[sample % len(params)]
        p = source.choice((0, 0.5, 0.25, 1))
        d = model.Draw(3, 0, sample, "image", "random_resized_crop", 0)
        box = model.random_resized_crop(d, w, h, numbers[:2], numbers[2:])
        yield line("resized", sample, w, h, *reals(*numbers), *box, *reals(p),
                   int(model.flip(d, p)))
        cw, ch = source.randint(1, w), source.randint(1, h)
        d = model.Draw(3, 0, sample, "image", "random_resized_crop", 0)
        box = model.random_crop(d, w, h, cw, ch)
        middle = model.center_crop(w, h, cw, ch)
        yield line("exact", sample, w, h, cw, ch, *box[:2], *middle[:2],
                   *reals(p), int(model.flip(d, p)))


def substitute():
    yield "# seed epoch sample k n, the k-th substitute"
    for seed, epoch, sample, n in ((0, 0, 0, 1), (0, 0, 0, 2), (42, 3, 17, 178),
                                   (42, 3, 177, 178), (1, 2**40, 5, 2**50)):
        for k in range(1, 9):
            yield line(seed, epoch, sample, k, n,
                       model.substitute(seed, epoch, sample, k, n))


def packing():
    yield ("# length, documents, the tokens of each, sequences, and the one of "
           "each piece")
    source = random.Random(4)
    large = [source.randint(600, 990) for _ in range(300)]
    cases = [(8, []), (8, [8]), (8, [1]), (8, [9, 7]), (8, [3, 3, 3, 2, 5, 16]),
             (8, [0, 5, 0, 4, 3, 25, 4]), (1, [3, 1]),
             (100, [source.choice((1, 7, 30, 60, 99, 100, 101, 250))
                    for _ in range(120)]),
             (64, [min(1 + int(source.lognormvariate(3, 1)), 500)
                   for _ in range(200)]),
             (1000, large + [source.randint(10, 400) for _ in range(60)])]
    deepest = 0
    for length, documents in cases:
        sequences, most = model.pack(documents, length)
        deepest = max(deepest, most)
        order = {token: s for s, pieces in enumerate(sequences)
                 for token, _ in pieces}
        yield line(length, len(documents), *documents, len(sequences),
                   *[order[token] for token in sorted(order)])
    assert deepest == model.OPEN_SEQUENCES


FILES = (philox, draw, permutation, order, buckets, fixed, crop, packing,
         substitute)


def main():
    check = sys.argv[1] == "--check"
    folder = pathlib.Path(sys.argv[-1])
    for vectors in FILES:
        path = folder / f"{vectors.__name__}.txt"
        content = "".join(f"{text}\n" for text in vectors())
        if not check:
            path.write_text(content)
        elif path.read_text() != content:
            sys.exit(f"{path} is not what the model says")


if __name__ == "__main__":
    main()
