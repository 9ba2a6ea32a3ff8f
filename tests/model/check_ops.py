#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare ops that have steps with the model: check_ops.py PROGRAM SEED CASES.

PROGRAM prints random plans as lines of JSON (tests/pipeline/dump_ops.c).
"""

import json
import math
import subprocess
import sys
from collections import Counter

import augment_model as model
import forebay_model


def numbers(values):
    return [float.fromhex(v) if isinstance(v, str) else v for v in values]


def check_angles():
    for degrees in range(-720, 721):
        angle = degrees * 65536 // 2 + degrees
        turn = math.radians(angle / 65536)
        assert abs(model.sine(angle) - 2**30 * math.sin(turn)) < 4, degrees
        assert abs(model.cosine(angle) - 2**30 * math.cos(turn)) < 4, degrees


def main():
    program, seed, cases = sys.argv[1:]
    lines = subprocess.run([program, seed, cases], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    count, drew = Counter(), Counter()
    for line in lines:
        case = json.loads(line)
        if case["refused"]:
            continue
        draw = forebay_model.Draw(case["seed"], 2, case["sample"], "g",
                                  case["op"], 1)
        given = {k: numbers(v) for k, v in case["params"].items()}
        steps = getattr(model, case["op"])(draw, case["picture"], **given)
        right = [list(s) + [0] * (9 - len(s)) for s in steps
                 if s[0] != "flip"]
        flipped = ("flip",) in steps
        if right != case["steps"] or flipped != case["flip"]:
            sys.exit(f"{line}\nthe model {right}")
        count[case["op"]] += 1
        drew.update(s[0] for s in right)
    check_angles()
    if len(count) != 14 or min(count.values()) < int(cases) // 2 \
            or len(drew) != 17:
        sys.exit(f"checked only {dict(count)}, steps {dict(drew)}")
    print(f"C and the model agree: {dict(count)}")


if __name__ == "__main__":
    main()
