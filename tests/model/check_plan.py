#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the C plan with the model: check_plan.py PROGRAM SEED CASES.

PROGRAM prints random plans as lines of JSON (tests/pipeline/plan/dump.c).
"""

import json
import subprocess
import sys
from collections import Counter

import forebay_model as model

SHUFFLES = {1: "none", 2: "full", 3: "block"}
LASTS = {1: "drop", 2: "pad", 3: "short"}


def permutation(c):
    key = model.permutation_key(c["seed"], c["epoch"], "samples")
    p = model.Permutation(key, c["index"], c["n"])
    return {"element": p.at(c["position"])}


def buckets_of(c):
    """As dump.c deals them."""
    n = c["buckets"]
    samples = range(sum(c["shards"]))
    return [(i * i + 3 * i) % 7 % n for i in samples] if n else ()


def order(c):
    o = model.Order(sum(c["shards"]), c["batch"], SHUFFLES[c["shuffle"]],
                    LASTS[c["last"]], c["shards"], c["block"], c["lanes"],
                    c["slices"], c["seed"], c["epoch"],
                    buckets_of(c))
    first, n = o.rank_rows(c["step"], c["rank"], c["world"])
    rows = range(first, first + n)
    return {"steps": o.steps, "own": o.own_rows(c["step"]), "first": first,
            "samples": [o.row(c["step"], i)[0] for i in rows],
            "localities": [o.locality(c["step"], i) for i in rows]}


def refused(c):
    """Only a drop that leaves no batch is refused by these cases."""
    steps = model.steps_of(sum(c["shards"]), c["batch"], LASTS[c["last"]])
    return {"kind": "refused" if steps == 0 else "order"}


def crop(c):
    w, h = c["picture"]
    scale, ratio = ([float.fromhex(x) for x in c[k]]
                    for k in ("scale", "ratio"))
    draw = model.Draw(c["seed"], c["epoch"], c["sample"], "image", "some_op",
                      c["occurrence"])
    box = model.random_resized_crop(draw, w, h, scale, ratio)
    flip = model.flip(draw, float.fromhex(c["p"]))
    anywhere = model.random_crop(draw, w, h, box[2], box[3])
    resized = model.resize_shorter(w, h, box[2])
    if max(resized) > model.MAX_SIDE:
        resized = (0, 0)
    return {"box": list(box), "flip": flip, "random": list(anywhere[:2]),
            "center": list(model.center_crop(w, h, box[2], box[3])[:2]),
            "resized": list(resized)}


def substitute(c):
    return {"other": model.substitute(c["seed"], c["epoch"], c["sample"],
                                      c["k"], c["n"])}


CHECKS = {f.__name__: f
          for f in (permutation, order, refused, crop, substitute)}


def main():
    program, seed, cases = sys.argv[1:]
    lines = subprocess.run([program, seed, cases], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    count = Counter()
    for line in lines:
        case = json.loads(line)
        right = CHECKS[case["kind"]](case)
        wrong = {k: case[k] for k in right if case[k] != right[k]}
        if wrong:
            sys.exit(f"{line}\nC says    {wrong}\nthe model {right}")
        count[case["kind"]] += 1
    missing = CHECKS.keys() - count.keys()
    if missing or count.total() != 4 * int(cases):
        sys.exit(f"checked only {dict(count)}")
    print(f"C and the model agree: {dict(count)}")


if __name__ == "__main__":
    main()
