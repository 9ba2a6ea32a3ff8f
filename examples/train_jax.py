"""Train with JAX.  python examples/train_jax.py DATA

Batches are dicts of JAX arrays; i64 becomes i32, unless jax_enable_x64 is set.
The loader's state goes into the checkpoint as JSON, or into any other file."""

import json
import os
import pickle
import sys

import jax
import jax.numpy as jnp

import forebay.jax
from train_photos import pipeline  # the dict; its network is PyTorch's


def init(classes, size=3 * 48 * 48, hidden=64):
    one, two = jax.random.split(jax.random.key(1))
    return {"in": jax.random.normal(one, (size, hidden)) / size ** 0.5,
            "out": jax.random.normal(two, (hidden, classes)) / hidden ** 0.5}


def loss_of(weights, image, label):
    pixels = image.reshape(image.shape[0], -1)
    logits = jax.nn.relu(pixels @ weights["in"]) @ weights["out"]
    chosen = jnp.take_along_axis(
        jax.nn.log_softmax(logits), label[:, None], axis=1)
    return -chosen.mean()


@jax.jit
def step(weights, image, label, rate=0.02):
    loss, slope = jax.value_and_grad(loss_of)(weights, image, label)
    return loss, jax.tree.map(lambda w, s: w - rate * s, weights, slope)


def main(data, checkpoint="jax.ckpt", epochs="2"):
    train = forebay.jax.Loader(pipeline(data), split="train")
    weights = init(len(train.classes))
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
