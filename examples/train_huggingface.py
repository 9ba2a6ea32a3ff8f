# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer.  python examples/train_huggingface.py DATA

The keys of a batch are the arguments of forward(). The Trainer calls
set_epoch() and iterates. A callback adds the loader's state to each
checkpoint. With ignore_data_skip the Trainer skips no batches."""

import json
import pathlib
import sys
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

import forebay
from train_photos import network, pipeline


class Classifier(nn.Module):
    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, image: Tensor, label: Tensor) -> dict[str, Tensor]:
        return {"loss": cross_entropy(self.layers(image), label)}


class SaveLoader(TrainerCallback):
    def on_save(self, args: Any, state: Any, control: Any, **kw: Any) -> None:
        folder = f"{args.output_dir}/checkpoint-{state.global_step}"
        pathlib.Path(folder, "loader.json").write_text(
            json.dumps(kw["train_dataloader"].state_dict()))


class ForebayTrainer(Trainer):
    def get_train_dataloader(self) -> Any:
        return self.train_dataset


def main(data: str, folder: str = "huggingface", epochs: str = "2") -> None:
    train = forebay.Loader(pipeline(data), split="train", device="auto")
    pathlib.Path(folder).mkdir(exist_ok=True)
    last = get_last_checkpoint(folder)
    if last:
        train.load_state_dict(json.loads(
            pathlib.Path(last, "loader.json").read_text()))
    arguments = TrainingArguments(
        folder, num_train_epochs=int(epochs), save_steps=5, logging_steps=1,
        ignore_data_skip=True, report_to=[], remove_unused_columns=False)
    trainer = ForebayTrainer(Classifier(network(train.classes)), arguments,
                             train_dataset=train, callbacks=[SaveLoader()])
    trainer.train(resume_from_checkpoint=last)
    for entry in trainer.state.log_history[:-1]:  # the last is a summary
        print(f"step {entry['step']} loss {entry['loss']}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
