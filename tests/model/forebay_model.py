#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An independent model of Forebay's plan: the order of samples and the draws.

Written from proto/PROTOCOL.md ("Order", "Draws", "Substitutes"), not from the
C code, in plain integers and hashlib, so that the two can be compared. It is
slow. Import it, or run it: forebay_model.py plan --help.
"""

import argparse
import hashlib
import json
from fractions import Fraction
from math import isqrt

U32 = 2**32
U64 = 2**64
MAX_SIDE = 65535


def le(value, width):
    return value.to_bytes(width, "little")


def text(name):
    raw = name.encode()
    return le(len(raw), 2) + raw


def key_of(material):
    digest = hashlib.blake2b(material, digest_size=32).digest()
    return (int.from_bytes(digest[0:4], "little"),
            int.from_bytes(digest[4:8], "little"))


def philox(counter, key):
    """Philox4x32-10: four words of a counter of four and a key of two."""
    x = list(counter)
    k0, k1 = key
    for turn_number in range(10):
        if turn_number > 0:
            k0 = (k0 + 0x9E3779B9) % U32
            k1 = (k1 + 0xBB67AE85) % U32
        a = 0xD2511F53 * x[0]
        b = 0xCD9E8D57 * x[2]
        x = [b // U32 ^ x[1] ^ k0, b % U32, a // U32 ^ x[3] ^ k1, a % U32]
    return x


# ---- permutations ----


def permutation_key(seed, epoch, purpose):
    return key_of(le(seed, 8) + le(epoch, 8) + text(purpose))


def turn(key, value, size):
    z = (key + value) % U64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % U64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % U64
    z = z ^ z >> 31
    return z * size // U64


class Permutation:
    def __init__(self, key, index, n):
        self.n = n
        root = isqrt(n)
        root += root * root < n
        self.rows = 1 if n == 1 else root + root % 2
        self.columns = -(-n // self.rows)
        self.keys = []
        for j in range((24 if n < 1024 else 8) // 2):
            w = philox((j, 0, index % U32, index // U32), key)
            self.keys += [w[0] + U32 * w[1], w[2] + U32 * w[3]]

    def once(self, cell):
        row, column = divmod(cell, self.columns)
        for i in range(0, len(self.keys), 2):
            row = (row + turn(self.keys[i], column, self.rows)) % self.rows
            column = (column + turn(self.keys[i + 1], row, self.columns)
                      ) % self.columns
        return row * self.columns + column

    def at(self, position):
        cell = self.once(position)
        while cell >= self.n:
            cell = self.once(cell)
        return cell


# ---- order ----


def steps_of(samples, batch, last):
    return samples // batch + (samples % batch > 0 and last != "drop")


class Order:
    """shuffle: none, full, block; last: drop, pad, short; shards: sizes;
    buckets: of each sample the number of its bucket."""

    def __init__(self, samples, batch, shuffle="full", last="drop", shards=(),
                 block=1, lanes=0, slices=0, seed=0, epoch=0, buckets=()):
        self.N, self.n = samples, batch
        self.S, self.rest = divmod(samples, batch)
        self.shuffle, self.last = shuffle, last
        self.steps = steps_of(samples, batch, last)
        self.seed, self.epoch = seed, epoch
        self.line = None  # of buckets: the linear order, written out
        if len(buckets) > 0:
            self.set_buckets(buckets)
        elif shuffle == "full":
            key = permutation_key(seed, epoch, "samples")
            self.permutation = Permutation(key, 0, samples)
        elif shuffle == "block":
            self.set_blocks(list(shards), block)
            self.G = slices or max(g for g in range(1, 9) if batch % g == 0)
            self.L = min(lanes or max(1, 64 // self.G), self.S)

    def set_blocks(self, shards, block):
        sizes = [sum(shards[i:i + block])
                 for i in range(0, len(shards), block)]
        assert sum(sizes) == self.N
        key = permutation_key(self.seed, self.epoch, "blocks")
        order = Permutation(key, 0, len(sizes))
        within = permutation_key(self.seed, self.epoch, "block")
        self.blocks = []  # in the order they come: number, size, samples
        for i in range(len(sizes)):
            b = order.at(i)
            if sizes[b] > 0:
                self.blocks.append((b, sum(sizes[:b]), sizes[b],
                                    Permutation(within, b, sizes[b])))

    def set_buckets(self, buckets):
        """Full batches of each bucket, then the rests; then the batches."""
        whole, rest = [], []
        within = permutation_key(self.seed, self.epoch, "bucket")
        for b in range(max(buckets) + 1):
            own = [i for i, number in enumerate(buckets) if number == b]
            if self.shuffle == "full" and own:
                permutation = Permutation(within, b, len(own))
                own = [own[permutation.at(i)] for i in range(len(own))]
            full = len(own) // self.n * self.n
            whole += own[:full]
            rest += own[full:]
        self.line = whole + rest
        if self.shuffle == "full" and self.S > 0:
            key = permutation_key(self.seed, self.epoch, "batches")
            self.batches = Permutation(key, 0, self.S)

    def find(self, place):
        """(block, offset) of a place."""
        for entry in self.blocks:
            if place < entry[2]:
                return entry, place
            place -= entry[2]
        raise IndexError("place beyond the last sample")

    def sample(self, place):
        if self.line is not None:
            return self.line[place]
        if self.shuffle == "none":
            return place
        if self.shuffle == "full":
            return self.permutation.at(place)
        (_, first, _, permutation), offset = self.find(place)
        return first + permutation.at(offset)

    def place(self, step, row):
        if step == self.S:
            if row >= self.rest:
                return (row - self.rest) % self.N
            return self.S * self.n + row
        if self.line is not None and self.shuffle == "full":
            return self.batches.at(step) * self.n + row
        if self.shuffle != "block":
            return step * self.n + row
        width = self.n // self.G
        q, m = divmod(self.S, self.L)
        r = step % self.L
        piece = r * q + min(r, m) + step // self.L
        return (row // width * self.S + piece) * width + row % width

    def own_rows(self, step):
        return self.n if step < self.S else self.rest

    def all_rows(self, step):
        return self.n if self.last == "pad" else self.own_rows(step)

    def row(self, step, row):
        """(sample, valid)"""
        return (self.sample(self.place(step, row)), row < self.own_rows(step))

    def batch(self, step):
        return [self.row(step, i)[0] for i in range(self.all_rows(step))]

    def rank_rows(self, step, rank, world):
        rows = self.all_rows(step)
        first = min(rank * self.n // world, rows)
        return first, min((rank + 1) * self.n // world, rows) - first

    def locality(self, step, row):
        if self.shuffle == "block":
            return self.find(self.place(step, row))[0][0]
        return step * self.n + row


# ---- draws ----


class Draw:
    def __init__(self, seed, epoch, sample, group, op, occurrence):
        self.key = key_of(le(seed, 8) + text(group) + text(op)
                          + le(occurrence, 4))
        self.where = (epoch % U32, sample % U32, sample // U32)
        self.taken = 0

    def u32(self):
        block, word = divmod(self.taken, 4)
        self.taken += 1
        return philox((block,) + self.where, self.key)[word]

    def below(self, n):
        if n <= U32:
            w = self.u32()
            while w * n % U32 < U32 % n:
                w = self.u32()
            return w * n // U32
        w = self.u32() + U32 * self.u32()
        while w * n % U64 < U64 % n:
            w = self.u32() + U32 * self.u32()
        return w * n // U64

    def between(self, low, high):
        return low + self.below(high - low + 1)


# ---- fixed point ----


def q32(x):
    if not x > 0:
        return 0
    return 2**63 if x >= 2**31 else int(Fraction(x) * U32)


def log2(x):
    e = x.bit_length() - 1
    mantissa = (x << 31) >> e
    v = e - 32
    for _ in range(32):
        square = mantissa * mantissa
        t = square >> 63
        mantissa = square >> (31 + t)
        v = 2 * v + t
    return v


def exp2_entry(j):
    root = 2**(33 * 256 + j)
    for _ in range(8):
        root = isqrt(root)
    return (root + 1) // 2


EXP2 = [exp2_entry(j) for j in range(257)]


def exp2(x):
    i, f = divmod(x, U32)
    j, d = divmod(f, 2**24)
    v = EXP2[j] + (EXP2[j + 1] - EXP2[j]) * d // 2**24
    return v << i if i >= 0 else v >> -i


# ---- crops and flips: boxes are (x, y, w, h) ----


def limited(x, low, high):
    return min(max(q32(x), low), high)


def side(product):
    return (isqrt(product >> 40) + 2**11) >> 12


def random_resized_crop(draw, w, h, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3)):
    a, b = (limited(x, 0, U32) for x in scale)
    c, d = (limited(x, U32 // 256, U32 * 256) for x in ratio)
    for _ in range(10):
        area = w * h * draw.between(a, b)
        aspect = draw.between(log2(c), log2(d))
        cw, ch = side(area * exp2(aspect)), side(area * exp2(-aspect))
        if 1 <= cw <= w and 1 <= ch <= h:
            y = draw.below(h - ch + 1)
            return (draw.below(w - cw + 1), y, cw, ch)
    cw, ch = w, h
    if w * U32 < c * h:
        ch = max(1, (w * U32 + c // 2) // c)
    elif w * U32 > d * h:
        cw = max(1, (h * d + U32 // 2) // U32)
    return ((w - cw) // 2, (h - ch) // 2, cw, ch)


def random_crop(draw, w, h, cw, ch):
    y = draw.below(h - ch + 1)
    return (draw.below(w - cw + 1), y, cw, ch)


def center_crop(w, h, cw, ch):
    return (round(Fraction(w - cw, 2)), round(Fraction(h - ch, 2)), cw, ch)


def resize_shorter(w, h, z):
    return (z, z * h // w) if w <= h else (z * w // h, z)


def flip(draw, p):
    return draw.u32() < q32(p)


OPEN_SEQUENCES = 256


def pack(documents, length):
    """Documents (their tokens) into sequences: of each its pieces, as (first
    token, tokens), and how many sequences were open at most."""
    sequences, space, token, most = [], {}, 0, 0
    for document in documents:
        while document > 0:
            size = min(document, length)
            fits = [(left, s) for s, left in space.items() if left >= size]
            if fits:
                s = min(fits)[1]
            else:
                if size < length and len(space) == OPEN_SEQUENCES:
                    del space[min((left, s) for s, left in space.items())[1]]
                s = len(sequences)
                sequences.append([])
                space[s] = length
            sequences[s].append((token, size))
            space[s] -= size
            if space[s] == 0:
                del space[s]
            most = max(most, len(space))
            token += size
            document -= size
    return sequences, most


def substitute(seed, epoch, sample, k, samples):
    if samples == 1:
        return sample
    v = Draw(seed, epoch, sample, "", "substitute", k).below(samples - 1)
    return v if v < sample else v + 1


# ---- command ----


def plan_row(order, args, row):
    sample, valid = order.row(args.step, row)
    entry = {"row": row, "sample": sample, "valid": valid,
             "locality": order.locality(args.step, row)}
    if args.width and args.height:
        crop = Draw(args.seed, args.epoch, sample, args.group,
                    "random_resized_crop", 0)
        mirror = Draw(args.seed, args.epoch, sample, args.group,
                      "horizontal_flip", 0)
        entry["crop"] = random_resized_crop(crop, args.width, args.height,
                                            args.scale, args.ratio)
        entry["flip"] = flip(mirror, args.p)
    return entry


def plan(args):
    shards = [int(n) for n in args.shards.split(",")] if args.shards else []
    order = Order(args.samples or sum(shards), args.batch, args.shuffle,
                  args.last, shards, args.block, args.lanes, args.slices,
                  args.seed, args.epoch)
    first, n = order.rank_rows(args.step, args.rank, args.world)
    rows = [plan_row(order, args, first + i) for i in range(n)]
    if args.json:
        print(json.dumps({"epoch": args.epoch, "step": args.step,
                          "steps": order.steps, "rows": rows}))
        return
    for entry in rows:
        print(*entry.values())


def pair(argument):
    low, high = argument.split(",")
    return float(low), float(high)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    p = commands.add_parser("plan", help="the rows of one step")
    p.add_argument("--samples", type=int)
    p.add_argument("--shards", help="samples of each shard: 10,20,5")
    p.add_argument("--batch", type=int, default=64, help="global batch")
    p.add_argument("--shuffle", default="full",
                   choices=["none", "full", "block"])
    p.add_argument("--last", default="drop", choices=["drop", "pad", "short"])
    p.add_argument("--block", type=int, default=1, help="shards in a block")
    for name in "lanes", "slices", "seed", "epoch", "step", "rank":
        p.add_argument(f"--{name}", type=int, default=0)
    p.add_argument("--world", type=int, default=1)
    p.add_argument("--width", type=int, help="of every picture; gives crops")
    p.add_argument("--height", type=int)
    p.add_argument("--group", default="image")
    p.add_argument("--scale", type=pair, default=(0.08, 1.0))
    p.add_argument("--ratio", type=pair, default=(3 / 4, 4 / 3))
    p.add_argument("--p", type=float, default=0.5, help="of a flip")
    p.add_argument("--json", action="store_true")
    p.set_defaults(run=plan)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
