# SPDX-License-Identifier: Apache-2.0
"""Train with Lightning.  python examples/train_lightning.py DATA

The loaders are iterables that already have the share of their rank, so
use_distributed_sampler is off. Lightning saves and loads the state of a loader
that has state_dict() and load_state_dict()."""

import pathlib
import sys
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn

import forebay
from train_photos import network, pipeline


class Classifier(lightning.LightningModule):
    def __init__(self, layers: nn.Module, steps: int) -> None:
        super().__init__()
        self.layers, self.steps = layers, steps

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        loss = nn.functional.cross_entropy(
            self.layers(batch["image"]), batch["label"])
        print(f"step {self.global_step + 1} loss {loss.item()}", flush=True)
        return loss

    def validation_step(self, batch: Any, index: int) -> None:
        hits = self.layers(batch["image"]).argmax(1) == batch["label"]
        self.log("accuracy", hits[batch["valid"]].float().mean(),
                 batch_size=len(hits), sync_dist=True)

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.AdamW(self.parameters())
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, 3e-3, total_steps=self.steps)
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


def main(data: str, folder: str = "lightning-run", epochs: str = "2") -> None:
    train, val = (forebay.Loader(pipeline(data), split=split, device="auto")
                  for split in ("train", "val"))
    saved = sorted(pathlib.Path(folder).glob("*.ckpt"),
                   key=lambda path: path.stat().st_mtime)
    trainer = lightning.Trainer(
        max_epochs=int(epochs), limit_val_batches=2, logger=False,
        use_distributed_sampler=False, enable_progress_bar=False,
        callbacks=[ModelCheckpoint(folder, every_n_train_steps=5,
                                   save_top_k=-1)])
    model = Classifier(network(train.classes), int(epochs) * len(train))
    trainer.fit(model, train, val,
                ckpt_path=saved[-1] if saved else None)


if __name__ == "__main__":
    main(*sys.argv[1:4])
