# SPDX-License-Identifier: Apache-2.0
"""Train with JAX.  python examples/train_jax.py DATA

Batches are dicts of JAX arrays; i64 becomes i32, unless jax_enable_x64 is set.
The loader's state goes into the checkpoint as JSON, or into any other file."""

import json
import os
import pickle
import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

import forebay.jax
from train_photos import pipeline  # the dict; its network is PyTorch's


def init(classes: int, size: int = 3 * 48 * 48, hidden: int = 64) -> Any:
    one, two = jax.random.split(jax.random.key(1))
    return {"in": jax.random.normal(one, (size, hidden)) / size ** 0.5,
            "out": jax.random.normal(two, (hidden, classes)) / hidden ** 0.5}


def loss_of(weights: Any, image: Array, label: Array) -> Array:
    pixels = image.reshape(image.shape[0], -1)
    logits = jax.nn.relu(pixels @ weights["in"]) @ weights["out"]
    chosen = jnp.take_along_axis(
        jax.nn.log_softmax(logits), label[:, None], axis=1)
    return -chosen.mean()


@jax.jit
def step(weights: Any, image: Array, label: Array) -> tuple[Array, Any]:
    loss, slope = jax.value_and_grad(loss_of)(weights, image, label)
    return loss, jax.tree.map(lambda w, s: w - 0.02 * s, weights, slope)


def main(data: str, checkpoint: str = "jax.ckpt", epochs: str = "2") -> None:
    train = forebay.jax.Loader(pipeline(data), split="train")
    weights = init(len(train.classes or ()))
    if os.path.exists(checkpoint):
        with open(checkpoint, "rb") as file:
            weights, state = pickle.load(file)
        train.load_state_dict(json.loads(state))

    while train.epoch < int(epochs):
        for batch in train:
            loss, weights = step(weights, batch["image"], batch["label"])
            print(f"epoch {train.epoch} step {train.step} loss {float(loss)}",
                  flush=True)
            with open(checkpoint + "~", "wb") as file:
                pickle.dump((jax.device_get(weights),
                             json.dumps(train.state_dict())), file)
            os.replace(checkpoint + "~", checkpoint)


if __name__ == "__main__":
    main(*sys.argv[1:4])
