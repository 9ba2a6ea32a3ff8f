# SPDX-License-Identifier: Apache-2.0
"""Fully sharded training with checkpoints of torch.distributed.checkpoint.

    torchrun --nproc-per-node 2 examples/train_dcp.py DATA"""

import pathlib
import sys
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import state_dict as states
from torch.distributed.fsdp import fully_shard
from torch.nn.functional import cross_entropy

import forebay
from train_photos import network, pipeline


class Training:  # the model and its optimizer as one part of a checkpoint
    def __init__(self, *both: Any) -> None:
        self.both = both

    def state_dict(self) -> dict[str, Any]:
        model, optim = states.get_state_dict(*self.both)
        return {"model_state_dict": model, "optim_state_dict": optim}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        states.set_state_dict(*self.both, **state)


def main(data: str, folder: str = "dcp", epochs: str = "2") -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dist.init_process_group()
    mesh = dist.init_device_mesh(device, (dist.get_world_size(),))
    train = forebay.Loader(pipeline(data), split="train", mesh=mesh,
                           device=device)
    model = network(train.classes).to(device)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    parts = {"training": Training(model, optimizer), "loader": train}
    for file in sorted(pathlib.Path(folder).glob("*/.metadata"))[-1:]:
        dcp.load(parts, checkpoint_id=file.parent)

    while train.epoch < int(epochs):
        for batch in train:
            loss = cross_entropy(model(batch["image"]), batch["label"])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            at = f"epoch {train.epoch:03} step {train.step:05}"
            if dist.get_rank() == 0:
                print(at, "loss", loss.item(), flush=True)
            if train.step % 5 == 0:
                dcp.save(parts, checkpoint_id=f"{folder}/{at}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:4])
