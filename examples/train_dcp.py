"""Fully sharded training with checkpoints of torch.distributed.checkpoint.

    torchrun --nproc-per-node 2 examples/train_dcp.py DATA"""

import pathlib
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint import state_dict as model_state
from torch.distributed.fsdp import fully_shard

import forebay
from train_photos import network, pipeline


class Training:  # the model and its optimizer as one part of a checkpoint
    def __init__(self, *both):
        self.both = both

    def state_dict(self):
        return dict(zip(("model", "optim"),
                        model_state.get_state_dict(*self.both)))

    def load_state_dict(self, state):
        model_state.set_state_dict(*self.both, **{
            f"{key}_state_dict": part for key, part in state.items()})


def main(data, folder="dcp", epochs="2"):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dist.init_process_group()
    mesh = dist.init_device_mesh(device, (dist.get_world_size(),))
    train = forebay.Loader(
        pipeline(data), split="train", mesh=mesh, device=device)
    model = network(len(train.classes)).to(device)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    parts = {"training": Training(model, optimizer), "loader": train}
    for file in sorted(pathlib.Path(folder).glob("*/.metadata"))[-1:]:
        dcp.load(parts, checkpoint_id=file.parent)

    while train.epoch < int(epochs):
        for batch in train:
            loss = nn.functional.cross_entropy(
                model(batch["image"]), batch["label"])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if dist.get_rank() == 0:
                print(f"epoch {train.epoch} step {train.step} "
                      f"loss {loss.item()}", flush=True)
            if train.step % 5 == 0:
                name = f"{folder}/{train.epoch:04}-{train.step:06}"
                dcp.save(parts, checkpoint_id=name)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:4])
