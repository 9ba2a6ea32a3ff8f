# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training: each rank takes its share of every global batch.

    torchrun --nproc-per-node 2 examples/train_ddp.py DATA

Rank and world are those of torch.distributed. Do not shard the loader again:
it needs no DistributedSampler. A run continues with any number of ranks that
divides global_batch."""

import os
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import forebay
from train_photos import network, pipeline


def main(data: str, checkpoint: str = "ddp.pt", epochs: str = "2") -> None:
    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")
    device = torch.device("cpu")
    if gpu:
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)

    train = forebay.Loader(pipeline(data), split="train", device=device)
    model = DistributedDataParallel(network(train.classes).to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    parts: dict[str, Any] = {
        "model": model, "optimizer": optimizer, "loader": train}
    if os.path.exists(checkpoint):
        saved = torch.load(checkpoint, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(saved[name])

    while train.epoch < int(epochs):
        for batch in train:
            loss = nn.functional.cross_entropy(
                model(batch["image"]), batch["label"])
            optimizer.zero_grad()
            loss.backward()  # averages the gradients over the ranks
            optimizer.step()
            if dist.get_rank() == 0:  # the state is the same on all ranks
                print(f"epoch {train.epoch} step {train.step} loss "
                      f"{loss.item()}", flush=True)
                torch.save({name: part.state_dict()
                            for name, part in parts.items()},
                           checkpoint + ".new")
                os.replace(checkpoint + ".new", checkpoint)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:4])
