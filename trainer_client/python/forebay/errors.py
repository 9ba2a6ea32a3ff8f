# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package, all below forebay.Error.

The library reports a failure as a status, one line of text and the parts that
it knows; from_status() makes the exception."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional


class Error(Exception):
    """A failure of Forebay; its text says what to do."""


class UsageError(Error, ValueError):
    """An argument or a call that is not allowed."""


class StateError(Error, ValueError):
    """A state that is damaged, or of another stream."""


class PipelineError(Error, ValueError):
    """A pipeline that is wrong, or that does not fit the data or the job."""
    file: str = ""              # as the caller wrote it
    line: Optional[int] = None  # from 1
    column: Optional[int] = None
    key: str = ""               # of a dict: the path of the key


class DataError(Error):
    """A sample or a shard that cannot be delivered."""
    shard: str = ""
    sample: Optional[int] = None  # its number in the dataset
    offset: Optional[int] = None  # of the error in the shard, in bytes
    worker: str = ""              # host and endpoint of the one that reports


class ClusterError(Error):
    """A server, worker or GPU that cannot be used."""


class Timeout(ClusterError, TimeoutError):
    """A server, worker or batch that did not come in time."""


class HeldError(Error):
    """A batch that cannot be made while the caller holds so many."""


_CLASSES: Mapping[int, type[Error]] = {  # enum forebay_status
    2: Timeout, 3: UsageError, 4: PipelineError, 5: DataError, 6: HeldError,
    7: UsageError, 8: ClusterError}


_ARGUMENTS: Mapping[str, str] = {  # options of the library and of programs
    "say which root it is in: options.roots":
        'name the root of the server\'s workers that it is in, as in '
        'data={"NAME": "/dir"}',
    "use another --job": "use another job=",
    "all that max_held_bytes allows; release some":
        "all that fit into 1 GiB; drop or clone some"}


def in_python(text: str) -> str:
    """A text of the library or a program, with this package's arguments."""
    for option, argument in _ARGUMENTS.items():
        text = text.replace(option, argument)
    return re.sub(r"--data (\w+)=(DIR|/[^\s:,)]*)", r'data={"\1": "\2"}', text)


def from_status(status: int, text: str, parts: Mapping[str, Any]) -> Error:
    """The exception for a failure of the library."""
    error = _CLASSES.get(status, Error)(in_python(text))
    error.__dict__.update(parts)
    return error
