#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write ops.txt: what torchvision v2 makes of made-up float32 pictures.

    make.py > ops.txt        needs torch and torchvision; no test does

Four pictures of 9 x 7 (width x height) of the same made-up bytes as in
tests/trainer_client/test_expand_ops.c. Every number is chosen so that a worker
could draw it. Lines:

    case NAME ULP FAR N STAGE...      stages: 1 erase, 2 jitter, 3 normalize;
                                      FAR: which values are erased to
    row MIRROR_X MIRROR_Y N (KIND FACTOR_Q16)... ERASE(4) CUT(4)
        PAIR(0, 1 mixup, 2 cutmix) LAMBDA_Q24
    want HEX...                       binary32 of picture, row, column, channel
    label HEX...                      where rows are mixed: 5 classes, 0.1
"""

import torch
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

ROWS, H, W, CLASSES = 4, 7, 9, 5
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
DARK, FAR = [0.25, 0.0, 1.0], [0.25, -1.5, 3.0]
ONE, LAMBDA_ONE = 65536, 2**24
BRIGHTNESS, CONTRAST, SATURATION, HUE = 4, 5, 6, 7
ERASE, JITTER, NORMALIZE = 1, 2, 3


def made_up():
    state, values = 1, []
    for i in range(ROWS * H * W):
        pixel = []
        for _ in range(3):
            state = (state * 1664525 + 1013904223) % 2**32
            pixel.append(state >> 24)
        values += [pixel[0]] * 3 if i % 5 == 0 else pixel
    return torch.tensor(values, dtype=torch.uint8).view(ROWS, H, W, 3)


def levels():
    return F.to_dtype(made_up().permute(0, 3, 1, 2), torch.float32, scale=True)


STEPS = {
    BRIGHTNESS: F.adjust_brightness,
    CONTRAST: F.adjust_contrast,
    SATURATION: F.adjust_saturation,
    HUE: F.adjust_hue,
}
NO_BOX = (0, 0, 0, 0)


class Row:
    def __init__(self, x=0, y=0, jitter=(), erase=NO_BOX):
        self.x, self.y, self.jitter, self.erase = x, y, jitter, erase

    def run(self, image, stages, value):
        image = image.flip(-1) if self.x else image
        image = image.flip(-2) if self.y else image
        for stage in stages:
            left, top, right, bottom = self.erase
            if stage == ERASE and right > left:
                image = F.erase(image, top, left, bottom - top, right - left,
                                torch.tensor(value).view(3, 1, 1))
            elif stage == JITTER:
                for kind, factor in self.jitter:
                    image = STEPS[kind](image, factor / ONE)
            elif stage == NORMALIZE:
                image = F.normalize(image, MEAN, STD)
        return image


def words(*values):
    return " ".join(str(int(v)) for v in values)


def bits(tensor):
    flat = tensor.contiguous().view(torch.int32).flatten().tolist()
    return " ".join(f"{v % 2**32:08x}" for v in flat)


def mix(images, labels, how):
    """(pictures, labels, box, lambda) after MixUp or CutMix."""
    kind, value = how
    params = {"batch_size": ROWS, "labels": labels}
    if kind == 1:
        op = v2.MixUp(num_classes=CLASSES)
        params["lam"] = value / LAMBDA_ONE
        box = NO_BOX
    else:
        op = v2.CutMix(num_classes=CLASSES)
        box = value
        area = (box[2] - box[0]) * (box[3] - box[1])
        params.update(box=box, lam_adjusted=float(1.0 - area / (W * H)))
    return op.transform(images, params), op.transform(labels, params), box


def case(name, ulp, stages, rows, how=(0, 0)):
    far = stages == [NORMALIZE, ERASE]
    images = torch.stack([r.run(i, stages, FAR if far else DARK)
                          for r, i in zip(rows, levels())])
    labels = torch.full((ROWS, CLASSES), float(0.1 / CLASSES))
    for r in range(ROWS):
        labels[r][(3 * r) % CLASSES] = 1 - 0.1 + 0.1 / CLASSES
    box = NO_BOX
    if how[0]:
        images, labels, box = mix(images, labels, how)
    print("case", name, ulp, int(far), len(stages), *stages)
    for r in rows:
        steps = [n for step in r.jitter for n in step]
        print("row", words(r.x, r.y, len(r.jitter), *steps, *r.erase, *box,
                           how[0], how[1] if how[0] == 1 else 0))
    print("want", bits(images.permute(0, 2, 3, 1)))
    if how[0]:
        print("label", bits(labels))


def main():
    flips = [Row(), Row(1), Row(0, 1), Row(1, 1)]
    boxes = [NO_BOX, (0, 0, 3, 2), (2, 1, 9, 7), (4, 3, 5, 4)]
    erased = [Row(r.x, r.y, (), b) for r, b in zip(flips, boxes)]
    case("flip", 0, [], flips)
    case("normalize_alone", 0, [NORMALIZE], [Row()] * ROWS)
    case("erase", 0, [ERASE], erased)
    case("erase_then_normalize", 0, [ERASE, NORMALIZE], erased)
    case("normalize_then_erase", 0, [NORMALIZE, ERASE], erased)
    for name, kind, ulp, factors in (
            ("brightness", BRIGHTNESS, 0, (0, 40000, 65536, 120000)),
            ("contrast", CONTRAST, 4, (0, 40000, 65536, 120000)),
            ("saturation", SATURATION, 4, (0, 40000, 65536, 190000)),
            ("hue", HUE, 0, (-32768, -5000, 0, 21000))):
        case(name, ulp, [JITTER], [Row(jitter=[(kind, f)]) for f in factors])
    order = [(HUE, 3000), (CONTRAST, 80000), (BRIGHTNESS, 70000),
             (SATURATION, 50000)]
    jitter = [Row(r.x, r.y, order[k:] + order[:k], b)
              for k, (r, b) in enumerate(zip(flips, boxes))]
    case("all_of_jitter", 16, [JITTER], jitter)
    case("erase_then_jitter", 16, [ERASE, JITTER], jitter)
    case("jitter_then_normalize", 64, [JITTER, NORMALIZE, ERASE], jitter)
    case("mixup", 0, [], flips, (1, 5000001))
    case("normalize_then_mixup", 0, [NORMALIZE], flips, (1, 16777216))
    case("cutmix", 0, [ERASE, NORMALIZE], erased, (2, (3, 0, 9, 5)))


if __name__ == "__main__":
    main()
