# SPDX-License-Identifier: Apache-2.0
"""Batches of NumPy arrays, which share the memory of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from forebay import adapters, loader
from forebay.errors import UsageError

if TYPE_CHECKING:
    from forebay._forebay import Batch, Stream, Tensor


class Adapter(adapters.Adapter):
    """Arrays are writable, and keep their batch while referenced."""
    name = "numpy"

    def find_device(self, device: object) -> str:
        name = super().find_device(device)
        if name not in ("host", "auto"):
            raise UsageError(f"device={name!r}: NumPy's arrays are on the "
                             "host; use framework='torch' or 'jax'")
        return "host"

    def opened(self, stream: Stream) -> None:
        for name, source, dtype, *_ in stream.fields:
            if dtype == "bf16":
                raise UsageError(
                    f"field {name}: NumPy has no bf16; use output="
                    f"{{{source!r}: {{'dtype': 'f32'}}}}")

    def tensor(self, tensor: Tensor) -> numpy.ndarray[Any, Any]:
        return numpy.asarray(tensor)

    def tensors(self, batch: Batch, names: tuple[tuple[str, int], ...]
                ) -> dict[str, numpy.ndarray[Any, Any]]:
        take, values = batch.tensor, {}
        for name, i in names:
            values[name] = numpy.asarray(take(i))
        return values


class Loader(loader.Loader):
    """forebay.Loader with framework="numpy"."""
    framework = "numpy"
