"""How the tensors of a batch become the values of a dict.

A Frame knows one framework: its devices, and how it takes a tensor. A Reader
knows one stream: which tensors become which key. A tensor of a ragged or sparse
field can be joined with those that follow it, such as NAME.offsets."""

from __future__ import annotations

import importlib
from typing import (
    TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, Sequence)

from forebay.errors import UsageError

if TYPE_CHECKING:
    from forebay._forebay import Batch, Stream, Tensor

_DTYPES = {"u8": 1, "u16": 2, "i32": 3, "i64": 4, "f16": 5, "bf16": 6,
           "f32": 7, "u32": 8, "bool": 9}
_LAYOUTS = {"hwc": 1, "chw": 2, "channels_last": 3}
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


class Frame:
    """The host and no framework: values are the extension's tensors."""
    name = "none"
    memories: tuple[str, ...] = ("own", "ring")

    def __init__(self, device: object, memory: Optional[str]):
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

    def next(self, stream: Stream, timeout: float) -> Optional[Batch]:
        """Take the next batch."""
        return stream.next(timeout)

    def release(self, batch: Batch) -> None:
        """Release a batch whose tensors were taken."""
        batch.release()

    def tensor(self, tensor: Tensor) -> Any:
        """A tensor in the framework's type, without a copy on the host."""
        return tensor

    def tensors(self, batch: Batch, names: Sequence[tuple[str, int]]
                ) -> dict[str, Any]:
        """The tensors of a batch with these names and numbers."""
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


def make(framework: str, device: object, memory: Optional[str]) -> Frame:
    """The frame of a framework, which is imported now."""
    if framework not in ("torch", "numpy", "jax"):
        raise UsageError(f"framework={framework!r}: it is torch, numpy or jax")
    try:
        module = importlib.import_module(f"forebay.{framework}")
    except ModuleNotFoundError as error:
        if error.name != framework:
            raise
        raise UsageError(f"framework={framework!r}: it is not installed; "
                         "framework= is torch, numpy or jax") from None
    frame: Frame = module.FRAME(device, memory)
    return frame


def to_library(output: Output) -> list[dict[str, Any]]:
    """The overrides in the numbers of the library. The keys are those of `out`
    in a pipeline, without scale and offset; `shape` is of sparse tensors."""
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
                entry[key] = _number(where, value, _DTYPES)
            elif key == "layout":
                entry[key] = _number(where, value, _LAYOUTS)
            elif key == "pad":
                entry[key] = float(value)
            elif key != "shape":
                raise UsageError(f"{where}: the keys are dtype, layout, as, "
                                 "to, pad, offsets, shape")
        made.append(entry)
    return made


def _number(where: str, value: object, numbers: Mapping[str, int],
            more: Mapping[str, str] = {}) -> int:
    if not isinstance(value, str) or value not in numbers:
        names = ", ".join((*numbers, *more))
        raise UsageError(f"{where}: {value!r} is not one of {names}")
    return numbers[value]


Maker = Callable[["Batch"], Any]


class Reader:
    """Makes the dicts of one stream."""

    def __init__(self, frame: Frame, stream: Stream, output: Output):
        self.frame = frame
        self.fields: dict[str, Field] = {}
        self.plain: list[tuple[str, int]] = []
        self.joined: list[tuple[str, Maker]] = []
        index = {field[0]: i for i, field in enumerate(stream.fields)}
        parts = {f"{name}.{end}" for name in output
                 if output[name].get("as") in _JOINED
                 for end in ("offsets", "indices")}
        for i, (name, _, dtype, shape, _, form) in enumerate(stream.fields):
            wanted = output.get(name, {})
            joined = wanted.get("as")
            if name in parts:
                continue
            if joined == "text" and dtype != "u8":
                raise UsageError(f"output[{name!r}]: as: text is for fields "
                                 f"with `decode: text`; this one is {dtype}")
            if joined in _JOINED:
                self.joined.append((name, self._maker(
                    name, joined, index, wanted.get("shape"))))
                dtype = "str" if joined == "text" else dtype
                shape = _joined_shape(shape, joined, wanted)
            else:
                self.plain.append((name, i))
                joined = next((k for k, n in _FORMS.items() if n == form), "")
            self.fields[name] = Field(name, dtype, tuple(shape), joined)

    def read(self, batch: Batch) -> dict[str, Any]:
        """The values of a batch, by name."""
        values = self.frame.tensors(batch, self.plain)
        for name, make_value in self.joined:
            values[name] = make_value(batch)
        return values

    def _maker(self, name: str, form: str, index: Mapping[str, int],
               shape: Optional[Sequence[int]]) -> Maker:
        frame, first = self.frame, index[name]
        offsets = index.get(f"{name}.offsets")
        indices = index.get(f"{name}.indices")
        if form in ("sparse", "sparse_csr") and not shape:
            raise UsageError(
                f"output[{name!r}]: a sparse tensor needs the shape of a "
                "dense row, as in {'as': 'sparse', 'shape': [50000]}")

        def get(batch: Batch, i: Optional[int]) -> Any:
            return None if i is None else frame.tensor(batch.tensor(i))

        def nested(batch: Batch) -> Any:
            return frame.nested(get(batch, first), get(batch, offsets),
                                batch.row_lengths(first))

        def text(batch: Batch) -> list[str]:
            whole = bytes(frame.numbers(get(batch, first)))
            ends = frame.numbers(get(batch, offsets))
            return [whole[begin:end].decode("utf-8", "replace")
                    for begin, end in zip(ends, ends[1:])]

        def sparse(batch: Batch) -> Any:
            return frame.sparse(get(batch, first), get(batch, indices),
                                get(batch, offsets),
                                (batch.rows, *(shape or ())))

        return {"nested": nested, "text": text}.get(form, sparse)


def _joined_shape(shape: Sequence[int], form: str,
                  wanted: Mapping[str, Any]) -> tuple[int, ...]:
    if form == "text":
        return (-1,)
    if form == "nested":
        return (-1, *shape)
    return (-1, *wanted.get("shape", ()))
