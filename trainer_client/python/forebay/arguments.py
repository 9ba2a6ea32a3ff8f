# SPDX-License-Identifier: Apache-2.0
"""Arguments of a loader that are wrong, and what to write instead."""

from __future__ import annotations

from typing import Mapping, Optional

from forebay.errors import UsageError

# What to do instead of arguments that other loaders have.
INSTEAD = {
    "num_workers": "the workers are other processes: threads= sets the cores "
                   "of the local cluster, server= takes another one",
    "batch_size": "the pipeline's global_batch is the number of rows of all "
                  "ranks together",
    "shuffle": "it is a key of the pipeline's split",
    "drop_last": "the pipeline's split has last: drop, pad or short",
    "collate_fn": "the pipeline's fields say what a batch is; output= changes "
                  "their form",
    "sampler": "the pipeline's split has the order, and rank and world the "
               "share of this process",
    "batch_sampler": "the pipeline's split has the order, and bucket_by",
    "pin_memory": "with device='cuda' batches arrive on the GPU, by way of "
                  "pinned memory",
    "prefetch_factor": "prefetch= is the number of batches to request ahead",
    "persistent_workers": "the workers stay as long as a loader is open",
    "worker_init_fn": "workers run no Python",
    "multiprocessing_context": "there are no worker processes in the trainer",
    "generator": "seed= is the seed of the order and of the random ops",
    "transform": "the pipeline's fields have ops",
}


def refuse(unknown: Mapping[str, object]) -> None:
    """Refuse arguments that a loader does not have."""
    for name in unknown:
        instead = INSTEAD.get(name)
        raise UsageError(f"{name}= is not an argument of forebay.Loader" +
                         (f": {instead}" if instead else
                          "; help(forebay.Loader) lists them"))


def positive(name: str, number: Optional[int]) -> Optional[int]:
    """A number from 1, or None."""
    if number is not None and (int(number) != number or number < 1):
        raise UsageError(f"{name}={number!r}: give a number from 1")
    return None if number is None else int(number)
