# SPDX-License-Identifier: Apache-2.0
"""The text of a pipeline: of a file, or of a dict with the file's keys.

A dict is written as JSON, which is YAML too, with one entry a line. So the line
of an error names the key."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Mapping, NamedTuple, Optional, Union

from forebay.errors import PipelineError, UsageError


class Pipeline(NamedTuple):
    """The text of a pipeline, and where it is from."""
    path: Optional[str]    # absolute; None: a dict
    text: str
    folder: str            # at which relative paths start
    keys: tuple[str, ...]  # of a dict: the path of the key in each line
    name: str              # for messages


Source = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def read(source: Source) -> Pipeline:
    """Read a pipeline. Errors: PipelineError if it cannot be read."""
    if isinstance(source, Mapping):
        writer = _Writer()
        writer.add(source, "")
        return Pipeline(None, "\n".join(writer.lines) + "\n", os.getcwd(),
                        tuple(writer.keys), "the pipeline")
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(f"pipeline: give the path of a file or a dict, not "
                         f"{type(source).__name__}")
    if "\n" in os.fspath(source):
        raise UsageError("pipeline: this is the text of a pipeline: give the "
                         "path of its file, or a dict with the file's keys")
    path = os.path.abspath(source)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise PipelineError(
            f"{os.fspath(source)}: cannot read the pipeline file: "
            f"{error.strerror}; `forebay init DIR -o FILE` writes one for a "
            "folder of data") from None
    except OSError as error:
        raise PipelineError(f"{os.fspath(source)}: cannot read the pipeline "
                            f"file: {error.strerror}") from None
    return Pipeline(path, text, os.path.dirname(path), (),
                    os.path.basename(path))


def with_key(error: PipelineError, pipeline: Pipeline) -> PipelineError:
    """The error, which says the path of the key instead of a line of the text
    that was made of a dict."""
    line = error.line
    if not line or line > len(pipeline.keys):
        return error
    key = pipeline.keys[line - 1]
    text = str(error).split(f":{line}:{error.column}: ", 1)[-1]
    where = f"pipeline[{key!r}]" if key else "pipeline"
    made = PipelineError(f"{where}: {text}")
    made.key = key
    return made


class _Writer:
    """Writes a value as JSON, and notes the path of the key of each line."""

    def __init__(self) -> None:
        self.lines, self.keys = [""], [""]

    def add(self, value: Any, key: str) -> None:
        """Append a value to the last line, and as many lines as it needs."""
        if isinstance(value, Mapping):
            self._add_all("{", "}", key, (
                (f"{json.dumps(str(name), ensure_ascii=False)}: ", item,
                 f"{key}.{name}" if key else str(name))
                for name, item in value.items()))
        elif isinstance(value, (list, tuple)):
            self._add_all("[", "]", key, (
                ("", item, f"{key}[{i}]") for i, item in enumerate(value)))
        else:
            self.lines[-1] += _scalar(value, key)

    def _add_all(self, begin: str, end: str, key: str,
                 items: Iterable[tuple[str, Any, str]]) -> None:
        self.lines[-1] += begin
        comma = ""
        for text, item, path in items:
            self.lines[-1] += comma
            self.lines.append(text)
            self.keys.append(path)
            self.add(item, path)
            comma = ","
        self.lines[-1] += end


def _scalar(value: Any, key: str) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return json.dumps(value, ensure_ascii=False)
    raise UsageError(f"pipeline[{key!r}]: a {type(value).__name__} cannot be "
                     "in a pipeline: give numbers, strings, lists and dicts")
