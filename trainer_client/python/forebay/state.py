# SPDX-License-Identifier: Apache-2.0
"""The state of a loader: a small dict of strings and numbers.

It names a position and the stream that it belongs to. It is the same on all
ranks, and any number of ranks can resume from it. The key `check` is a
checksum of the others, so that a damaged state is refused."""

from __future__ import annotations

import zlib
from typing import Any, Mapping, NamedTuple

from forebay.errors import StateError, UsageError

FORMAT = 1
HEX = 16  # digits of a digest
_LIMIT = 2**63  # of numbers
_MOST = 2**48   # epochs, and steps of one

_TYPES: Mapping[str, type] = {
    "token": str, "epoch": int, "step": int, "pipeline": str, "data": str,
    "seed": int, "global_batch": int}
_DIFFERENCES: Mapping[str, str] = {  # of the state, and of the open stream
    "seed": "the seed is {} in the state and {} here",
    "global_batch": "the global batch is {} in the state and {} here",
    "pipeline": "the split or its definition in the pipeline differs "
                "(content digest {} in the state, {} here)",
    "data": "the data has other samples, names or sizes (data digest {} in "
            "the state, {} here)"}


class Position(NamedTuple):
    """What has been delivered: `step` batches of `epoch`. The token is of
    this stream, but need not be of this position."""
    epoch: int
    step: int
    token: str


def stream_of(info: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a state that say which stream it is of, from the facts of
    an open stream."""
    return {"pipeline": info["content_digest"][:HEX],
            "data": info["data_digest"][:HEX],
            "seed": info["seed"], "global_batch": info["global_batch"]}


def make(position: Position, info: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a position."""
    state = {"forebay": FORMAT, **position._asdict(), **stream_of(info)}
    state["check"] = _checksum(state)
    return state


def after(info: Any) -> Position:
    """The position after a batch with this `info`. Errors: UsageError."""
    try:
        position = Position(info["epoch"], info["step"] + 1, info["token"])
    except (KeyError, TypeError):
        position = None
    if position is None or not _is_possible(position):
        raise UsageError('state_dict(after=...): give the value of the key '
                         '"forebay" of a batch, as info=True adds it')
    return position


def _is_possible(position: Position) -> bool:
    return (type(position.epoch) is type(position.step) is int
            and type(position.token) is str
            and 0 <= position.epoch < _MOST and 0 <= position.step < _MOST)


def parse(state: Any) -> Position:
    """The position of a state. Errors: StateError if it is none, or newer."""
    if not isinstance(state, Mapping) or "forebay" not in state:
        raise StateError("this is not a state of forebay.Loader: give what "
                         "state_dict() returned")
    found = state["forebay"]
    if type(found) is int and FORMAT < found < _LIMIT:
        raise StateError(f"the state has format {found}, and this package "
                         f"reads up to format {FORMAT}: install a newer one")
    whole = (type(found) is int and found == FORMAT
             and set(state) == {"forebay", "check", *_TYPES}
             and all(type(state[k]) is _TYPES[k] for k in _TYPES)
             and all(-_LIMIT < state[k] < _LIMIT for k in _TYPES
                     if _TYPES[k] is int)
             and state["check"] == _checksum(state))
    if whole:
        position = Position(state["epoch"], state["step"], state["token"])
        if _is_possible(position):
            return position
    raise StateError("the state is damaged: use an older checkpoint")


def is_of_other_data(state: Mapping[str, Any],
                     info: Mapping[str, Any]) -> bool:
    """True if a parsed state differs from this stream in its data alone."""
    here = stream_of(info)
    return [key for key in _DIFFERENCES if state[key] != here[key]] == ["data"]


def compare(state: Mapping[str, Any], info: Mapping[str, Any]) -> None:
    """Check that a parsed state is of this stream. Errors: StateError, which
    says what differs, with both values."""
    here = stream_of(info)
    differ = [words.format(state[key], here[key])
              for key, words in _DIFFERENCES.items()
              if state[key] != here[key]]
    if state["step"] > info["steps_per_epoch"]:
        differ.append(f"step {state['step']} is in the state, and an epoch "
                      f"has {info['steps_per_epoch']} steps here")
    if differ:
        raise StateError("the state is of another stream: " +
                         "; ".join(differ) + ": use what the state was made "
                         "with, or begin without a state")


def _checksum(state: Mapping[str, Any]) -> int:
    text = "\n".join(f"{key}={state[key]!r}" for key in sorted(state)
                     if key != "check")
    return zlib.crc32(text.encode())
