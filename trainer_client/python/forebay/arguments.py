# SPDX-License-Identifier: Apache-2.0
"""Arguments of a loader that are wrong, and what to write instead."""

from __future__ import annotations

import operator
import os
from typing import (
    Any, Iterable, Mapping, Optional, Sequence, SupportsIndex, Union, cast)

from forebay.errors import UsageError

Output = Mapping[str, Mapping[str, Any]]
Folders = Mapping[str, Union[str, os.PathLike[str]]]

# What to do instead of arguments that other loaders have.
INSTEAD = {
    "num_workers": "the workers are other processes: threads= sets the cores "
                   "of the local cluster, server= uses another one",
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


def refuse(unknown: Mapping[str, object], known: Iterable[str]) -> None:
    """Refuse arguments that a loader does not have."""
    for name in unknown:
        instead = INSTEAD.get(name) or _similar(name, known)
        raise UsageError(f"{name}= is not an argument of forebay.Loader" +
                         (f": {instead}" if instead else
                          "; help(forebay.Loader) lists them"))


def _similar(name: str, known: Iterable[str]) -> str:
    import difflib
    similar = difflib.get_close_matches(name, known, 1)
    return f"did you mean {similar[0]}=?" if similar else ""


def text(name: str, value: Optional[str]) -> Optional[str]:
    """A str, or None."""
    return value if value is None else _str(name, value)


def _str(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name}={_shown(value)}: give a str")
    if "\0" in value:
        raise UsageError(f"{name}={_shown(value)}: it has a NUL character")
    return value


def optional_count(name: str, value: Optional[int], least: int = 1,
                   most: int = 2**63 - 1) -> Optional[int]:
    """A whole number from `least` to `most`, or None."""
    return None if value is None else count(name, value, least, most)


def count(name: str, value: object, least: int = 1,
          most: int = 2**63 - 1) -> int:
    """A whole number from `least` to `most`."""
    try:
        number = None if isinstance(value, bool) else operator.index(cast(SupportsIndex, value))
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise UsageError(f"{name}={_shown(value)}: give a whole number from "
                         f"{least} to {most}")
    return number


def seconds(name: str, value: float) -> float:
    """A number above 0; infinity waits for ever."""
    try:
        number = 0.0 if isinstance(value, (str, bool)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if not number > 0:  # NaN, too
        raise UsageError(f"{name}={_shown(value)}: give a number of seconds "
                         "above 0")
    return number


def names(name: str, value: Optional[Sequence[str]]) -> Optional[list[str]]:
    """A list of str, or None."""
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise UsageError(f"{name}={_shown(value)}: give a list of names")
    return [_str(f"{name}[{i}]", item) for i, item in enumerate(value)]


def outputs(value: Optional[Output]) -> dict[str, dict[str, Any]]:
    """A dict of a dict for each field."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(
            isinstance(item, Mapping) for item in value.values()):
        raise UsageError(f"output={_shown(value)}: give a dict for each field, "
                         "as in {'image': {'dtype': 'bf16'}}")
    return {_str("output: a field", field): dict(item)
            for field, item in value.items()}


def folders(value: Optional[Folders]) -> dict[str, str]:
    """A dict of paths."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(
            isinstance(item, (str, os.PathLike)) for item in value.values()):
        raise UsageError(f"data={_shown(value)}: give the folder of each "
                         "name, as in {'photos': '/data/photos'}")
    return {_str("data: a name", name): _str(f"data[{name!r}]",
                                             os.fspath(path))
            for name, path in value.items()}


def _shown(value: object) -> str:
    """A short text for a message."""
    try:
        whole = repr(value)
    except ValueError:  # a number of thousands of digits
        whole = f"a large {type(value).__name__}"
    return whole if len(whole) <= 80 else whole[:77] + "..."
