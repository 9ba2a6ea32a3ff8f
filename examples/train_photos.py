# SPDX-License-Identifier: Apache-2.0
"""Train a small network on class folders, with validation between epochs.

    python examples/train_photos.py DATA     # DATA/train/CLASS, DATA/val/CLASS

Killed and started again, it goes on with the next step, with equal losses."""

import argparse
import os
import pathlib
from typing import Any, Optional, Sequence

import torch
from torch import nn

import forebay


def pipeline(data: str) -> dict[str, Any]:
    root = pathlib.Path(data).resolve()
    return {
        "forebay": 1,
        "splits": {"train": {"folder": root / "train", "shuffle": "full"},
                   "val": {"folder": root / "val", "shuffle": "none",
                           "last": "pad"}},
        "global_batch": 32,
        "fields": {
            "image": {
                "from": ["jpg", "jpeg", "png"],
                "ops": [{"random_resized_crop": {
                            "size": 48, "scale": [0.4, 1], "only": "train"}},
                        {"horizontal_flip": {"only": "train"}},
                        {"resize": {"size": 48, "only": "val"}}],
                "device": [{"normalize": {"mean": [0.485, 0.456, 0.406],
                                          "std": [0.229, 0.224, 0.225]}}],
                "out": {"dtype": "f32", "layout": "chw"}},
            "label": {"from": "folder"}}}


def network(classes: Optional[Sequence[str]]) -> nn.Module:
    assert classes  # class folders have names
    torch.manual_seed(1)

    def stage(before: int, after: int) -> tuple[nn.Module, ...]:
        return (nn.Conv2d(before, after, 3, stride=2, padding=1),
                nn.GroupNorm(8, after), nn.ReLU())

    return nn.Sequential(
        *stage(3, 16), *stage(16, 32), *stage(32, 64),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, len(classes)))


def accuracy(model: nn.Module, loader: forebay.Loader) -> float:
    right = total = 0.0
    loader.set_epoch(0)
    model.eval()
    with torch.no_grad():
        for batch in loader:
            valid = batch["valid"]  # false in rows that fill the last batch
            hits = model(batch["image"]).argmax(1) == batch["label"]
            right += (hits & valid).sum().item()
            total += valid.sum().item()
    model.train()
    return right / total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--server", help="default: a cluster on this machine")
    parser.add_argument("--checkpoint", default="checkpoint.pt")
    given = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    train, val = (forebay.Loader(pipeline(given.data), split=split,
                                 server=given.server, device=device)
                  for split in ("train", "val"))
    model = network(train.classes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    parts: dict[str, Any] = {
        "model": model, "optimizer": optimizer, "loader": train}
    if os.path.exists(given.checkpoint):
        saved = torch.load(given.checkpoint, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(saved[name])

    while train.epoch < given.epochs:
        for batch in train:
            loss = nn.functional.cross_entropy(
                model(batch["image"]), batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {train.epoch} step {train.step} loss {loss.item()}",
                  flush=True)
            torch.save({k: part.state_dict() for k, part in parts.items()},
                       given.checkpoint + "~")
            os.replace(given.checkpoint + "~", given.checkpoint)
        # The loader stands at the beginning of the next epoch.
        print(f"epoch {train.epoch - 1} accuracy {accuracy(model, val)}")


if __name__ == "__main__":
    main()
