# SPDX-License-Identifier: Apache-2.0
"""The state of a loader: a small dict of strings and numbers.

It names a position and the stream that it belongs to. It is the same on all
ranks, and any number of ranks can resume from it. The key `check` is a
checksum of the others, so that a damaged state is refused."""

from __future__ import annotations

import zlib
from typing import Any, Mapping, NamedTuple

from forebay.errors import StateError

FORMAT = 1
HEX = 16  # digits of a digest
_LIMIT = 2**64  # of numbers; far larger ones cannot even be printed

_TYPES: Mapping[str, type] = {
    "token": str, "epoch": int, "step": int, "pipeline": str, "data": str,
    "seed": int, "global_batch": int}
_WORDS: Mapping[str, str] = {
    "pipeline": "the pipeline's content digest", "seed": "the seed",
    "global_batch": "the global batch", "data": "the data's digest"}


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
    if not whole or min(state["epoch"], state["step"]) < 0:
        raise StateError("the state is damaged: use an older checkpoint")
    return Position(state["epoch"], state["step"], state["token"])


def compare(state: Mapping[str, Any], info: Mapping[str, Any]) -> None:
    """Check that a parsed state is of this stream. Errors: StateError with
    both values of what differs."""
    here = stream_of(info)
    differ = [f"{words} is {state[key]} in the state and {here[key]} here"
              for key, words in _WORDS.items() if state[key] != here[key]]
    if state["step"] > info["steps_per_epoch"]:
        differ.append(f"step {state['step']} is in the state, and an epoch "
                      f"has {info['steps_per_epoch']} steps here")
    if differ:
        raise StateError("the state is of another stream: " +
                         "; ".join(differ))


def _checksum(state: Mapping[str, Any]) -> int:
    text = "\n".join(f"{key}={state[key]!r}" for key in sorted(state)
                     if key != "check")
    return zlib.crc32(text.encode())
