# SPDX-License-Identifier: Apache-2.0
"""Train with Accelerate.  accelerate launch examples/train_accelerate.py DATA

Do not give the loader to prepare(): it already has the share of its rank, on
its device. register_for_checkpointing() puts its state into save_state()."""

import pathlib
import sys

import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration
from torch import nn

import forebay
from train_photos import network, pipeline


def main(data: str, folder: str = "accelerate", epochs: str = "2") -> None:
    accelerator = Accelerator(
        gradient_accumulation_steps=2,
        project_config=ProjectConfiguration(
            folder, automatic_checkpoint_naming=True, total_limit=3))
    train = forebay.Loader(pipeline(data), split="train",
                           device=accelerator.device)
    model = network(train.classes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.register_for_checkpointing(train)
    saved = list(pathlib.Path(folder, "checkpoints").glob("checkpoint_*"))
    if saved:
        accelerator.load_state()  # the newest
        accelerator.project_configuration.iteration = 1 + max(
            int(path.name.rsplit("_")[1]) for path in saved)

    while train.epoch < int(epochs):
        for batch in train:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(
                    model(batch["image"]), batch["label"])
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            accelerator.print(f"epoch {train.epoch} step {train.step} loss "
                              f"{loss.item()}", flush=True)
            if accelerator.sync_gradients:  # not between two batches of a sum
                accelerator.save_state()
    accelerator.end_training()


if __name__ == "__main__":
    main(*sys.argv[1:4])
