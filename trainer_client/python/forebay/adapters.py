# SPDX-License-Identifier: Apache-2.0
"""How the tensors of a batch become the values of a dict.

An Adapter knows one framework: its devices, and how it takes a tensor. A Reader
knows one stream: which tensors become which key. A tensor of a ragged or sparse
field can be joined with those that follow it, such as NAME.offsets."""

from __future__ import annotations

import importlib
from typing import (
    TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, Sequence)

from forebay import _forebay
from forebay.errors import UsageError
from forebay.interrupts import in_import

if TYPE_CHECKING:
    from forebay._forebay import Batch, Stream, Tensor

_DTYPES = {"u8": 1, "u16": 2, "i32": 3, "i64": 4, "f16": 5, "bf16": 6,
           "f32": 7, "u32": 8, "bool": 9}
_LONG_DTYPES = {  # the names of frameworks
    "uint8": "u8", "uint16": "u16", "int32": "i32", "int64": "i64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "uint32": "u32"}
_LAYOUTS = {"hwc": 1, "chw": 2, "channels_last": 3, "hw": 4}
_FORMS = {"padded": 1, "ragged": 2, "dense": 3, "csr": 4, "coo": 5,
          "cu_seqlens": 6, "positions": 7, "mask": 8}
_PADS = {"max": 1, "longest": 2}

# Forms that a Reader makes, and the form that the library delivers for each.
_JOINED = {"nested": "ragged", "text": "ragged", "sparse": "coo",
           "sparse_csr": "csr"}

Output = Mapping[str, Mapping[str, Any]]


class Field(NamedTuple):
    """One entry of a batch. In a shape, -1 varies from batch to batch."""
    name: str
    dtype: str              # "u8" to "bool"; "str" of a text
    shape: tuple[int, ...]  # rows first
    form: str               # "", or what `as` says


class Adapter:
    """The host and no framework: values are the extension's tensors."""
    name = "none"
    memories: tuple[str, ...] = ("own", "ring")
    array_type: Optional[type] = None  # the framework's

    def __init__(self, device: object, memory: Optional[str]):
        self.exchange: Any = None  # its table of C functions, if it has one
        self.device = self.find_device(device)
        if memory is not None and memory not in self.memories:
            raise UsageError(f"memory={memory!r}: with {self.name} it is one "
                             f"of {', '.join(self.memories)}")
        self.memory = memory or "own"

    def find_device(self, device: object) -> str:
        """The library's name of a device."""
        name = "host" if device is None else str(device)
        return "host" if name == "cpu" else name

    @property
    def stream_memory(self) -> str:
        """What the extension is told of the memory."""
        return "ring"

    def opened(self, stream: Stream) -> None:
        """Look at a stream that was just opened."""
        if self.can_exchange(stream):
            self.exchange = _forebay.exchange_api(self.array_type)

    def can_exchange(self, stream: Stream) -> bool:
        """Whether tensors can be taken without waiting for a CUDA stream."""
        return bool(stream.info["device"] == "host")

    def next(self, stream: Stream, timeout: float) -> Optional[Batch]:
        """Take the next batch."""
        return stream.next(timeout)

    def release(self, batch: Batch) -> None:
        """Release a batch whose tensors were taken."""
        batch.release()

    def tensor(self, tensor: Tensor) -> Any:
        """A tensor in the framework's type, without a copy on the host."""
        return tensor

    def tensors(self, batch: Batch, names: tuple[tuple[str, int], ...]
                ) -> dict[str, Any]:
        """The tensors of a batch with these names and numbers."""
        if self.exchange is not None:
            return batch.values(self.exchange, names)
        values = {}
        for name, i in names:
            values[name] = self.tensor(batch.tensor(i))
        return values

    def nested(self, values: Any, offsets: Any, lengths: tuple[int, int]
               ) -> Any:
        """Rows of several lengths. `lengths`: the shortest, the longest."""
        raise UsageError(f"{self.name} has no nested tensors: use as: ragged")

    def sparse(self, values: Any, indices: Any, offsets: Any,
               shape: Sequence[int]) -> Any:
        """A sparse tensor: CSR with offsets, COO without."""
        raise UsageError(f"{self.name} has no sparse tensors here: use as: "
                         "csr or as: coo")

    def numbers(self, array: Any) -> list[int]:
        """The values of an array of one dimension."""
        return [int(number) for number in array.tolist()]


def make(framework: str, device: object, memory: Optional[str]) -> Adapter:
    """The adapter of a framework, which is imported now."""
    if framework not in ("torch", "numpy", "jax"):
        raise UsageError(f"framework={framework!r}: it is torch, numpy or jax")
    try:
        with in_import():
            module = importlib.import_module(f"forebay.{framework}")
    except ModuleNotFoundError as error:
        if error.name != framework:
            raise
        raise UsageError(
            f"framework={framework!r}: it is not installed in this Python: "
            f"pip install {framework}, or use another framework= (torch, "
            "numpy, jax)") from None
    adapter: Adapter = module.Adapter(device, memory)
    return adapter


def to_library(output: Output) -> list[dict[str, Any]]:
    """The overrides in the numbers of the library. The keys are those of `out`
    in a pipeline, without scale and offset."""
    made = []
    for field, wanted in output.items():
        entry: dict[str, Any] = {"field": field}
        for key, value in dict(wanted).items():
            where = f"output[{field!r}][{key!r}]"
            if key == "as":
                entry["as"] = _number(where, _JOINED.get(value, value), _FORMS,
                                      _JOINED)
            elif key == "to":
                entry["pad_to"] = _number(where, value, _PADS)
            elif key in ("dtype", "offsets"):
                word = str(value).removeprefix("torch.")
                entry[key] = _number(where, _LONG_DTYPES.get(word, value),
                                     _DTYPES)
            elif key == "layout":
                entry[key] = _number(where, value, _LAYOUTS)
            elif key == "pad":
                entry[key] = _real(where, value)
            else:
                raise UsageError(f"{where}: the keys are dtype, layout, as, "
                                 "to, pad, offsets")
        made.append(entry)
    return made


def _number(where: str, value: object, numbers: Mapping[str, int],
            more: Mapping[str, str] = {}) -> int:
    if not isinstance(value, str) or value not in numbers:
        names = ", ".join((*numbers, *more))
        raise UsageError(f"{where}: {value!r} is not one of {names}")
    return numbers[value]


def _real(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{where}: {value!r} is not a number")
    return float(value)


Maker = Callable[["Batch"], Any]


class Reader:
    """Makes the dicts of one stream."""

    def __init__(self, adapter: Adapter, stream: Stream, output: Output):
        self.adapter = adapter
        self.fields: dict[str, Field] = {}
        self.joined: list[tuple[str, Maker]] = []
        index = {field[0]: i for i, field in enumerate(stream.fields)}
        plain: list[tuple[str, int]] = []
        parts = {f"{name}.{end}" for name in output
                 if output[name].get("as") in _JOINED
                 for end in ("offsets", "indices")}
        for i, (name, _, dtype, shape, _, form, dense) in enumerate(
                stream.fields):
            wanted = output.get(name, {})
            joined = wanted.get("as")
            if name in parts:
                continue
            if joined == "text" and dtype != "u8":
                raise UsageError(f"output[{name!r}]: as: text is for fields "
                                 f"with `decode: text`; this one is {dtype}")
            if joined in _JOINED:
                self.joined.append((name, self._maker(
                    name, joined, index, dense)))
                dtype = "str" if joined == "text" else dtype
                shape = _joined_shape(shape, joined, dense)
            else:
                plain.append((name, i))
                joined = next((k for k, n in _FORMS.items() if n == form), "")
            self.fields[name] = Field(name, dtype, tuple(shape), joined)
        self.plain = tuple(plain)

    def read(self, batch: Batch) -> dict[str, Any]:
        """The values of a batch, by name."""
        values = self.adapter.tensors(batch, self.plain)
        for name, make_value in self.joined:
            values[name] = make_value(batch)
        return values

    def _maker(self, name: str, form: str, index: Mapping[str, int],
               dense: Sequence[int]) -> Maker:
        adapter, first = self.adapter, index[name]
        offsets = index.get(f"{name}.offsets")
        indices = index.get(f"{name}.indices")
        if form in ("sparse", "sparse_csr") and not dense:
            raise UsageError(f"output[{name!r}]: as: {form} is for fields "
                             "with `decode: sparse`")

        def get(batch: Batch, i: Optional[int]) -> Any:
            return None if i is None else adapter.tensor(batch.tensor(i))

        def nested(batch: Batch) -> Any:
            return adapter.nested(get(batch, first), get(batch, offsets),
                                batch.row_lengths(first))

        def text(batch: Batch) -> list[str]:
            whole = bytes(adapter.numbers(get(batch, first)))
            ends = adapter.numbers(get(batch, offsets))
            return [whole[begin:end].decode("utf-8", "replace")
                    for begin, end in zip(ends, ends[1:])]

        def sparse(batch: Batch) -> Any:
            return adapter.sparse(get(batch, first), get(batch, indices),
                                get(batch, offsets),
                                (batch.rows, *dense))

        return {"nested": nested, "text": text}.get(form, sparse)


def _joined_shape(shape: Sequence[int], form: str, dense: Sequence[int]
                  ) -> tuple[int, ...]:
    if form == "text":
        return (-1,)
    if form == "nested":
        return (-1, *shape)
    return (-1, *dense)
