# SPDX-License-Identifier: Apache-2.0
"""Batches of PyTorch tensors.

On the host they share the memory of the library. On a GPU the memory is
PyTorch's own, so its allocator knows the streams that use it:
    own    (the default) new memory from PyTorch for each batch
    fixed  one memory for all batches, for CUDA graphs: the values of a batch
           are overwritten when the next one is taken
    ring   memory of the library, by DLPack; record_stream() has no effect on
           it, so other streams must be waited for before the next batch"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Optional, Sequence

import torch
from torch.utils.dlpack import from_dlpack

from forebay import adapters, loader
from forebay.errors import ClusterError, UsageError

if TYPE_CHECKING:
    from forebay._forebay import Batch, Stream, Tensor


_is_profiled = getattr(torch.autograd, "_profiler_enabled", lambda: False)
# Without the Python code of from_dlpack(), which a capsule does not need.
_from_capsule = getattr(torch._C, "_from_dlpack", from_dlpack)


class Adapter(adapters.Adapter):
    """Tensors on the host or on one GPU."""
    name = "torch"
    memories = ("own", "ring", "fixed")
    array_type = torch.Tensor

    def __init__(self, device: object, memory: Optional[str]):
        super().__init__(device, memory)
        self.gpu: Optional[torch.device] = None
        self.batch_bytes = 0
        self.bytes: Optional[torch.Tensor] = None  # of the batch being taken
        self.stream: Optional[torch.cuda.Stream] = None  # of the last batch

    def find_device(self, device: object) -> str:
        name = super().find_device(device)
        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "host"
        if not name.startswith("cuda"):
            if name != "host":
                raise UsageError(f"device={name!r}: it is cpu, cuda, cuda:N "
                                 "or auto")
            return name
        if not torch.cuda.is_available():
            raise ClusterError(f"device={name!r}: this PyTorch sees no GPU; "
                               "use device='cpu' or 'auto'")
        return name if ":" in name else f"cuda:{torch.cuda.current_device()}"

    @property
    def stream_memory(self) -> str:
        return "own" if self._gives_memory() else "ring"

    def opened(self, stream: Stream) -> None:
        super().opened(stream)
        if stream.info["device"].startswith("cuda"):
            self.gpu = torch.device(stream.info["device"])
            self.batch_bytes = stream.info["batch_bytes"]

    def can_exchange(self, stream: Stream) -> bool:
        # The values are ready on the stream that next() was given.
        return True

    def next(self, stream: Stream, timeout: float) -> Optional[Batch]:
        take = stream.next if self.gpu is None else functools.partial(
            self._next, stream)
        if not _is_profiled():
            return take(timeout)
        with torch.profiler.record_function("forebay.next"):
            return take(timeout)

    def _next(self, stream: Stream, timeout: float) -> Optional[Batch]:
        with torch.cuda.device(self.gpu):
            is_capturing = torch.cuda.is_current_stream_capturing()
        if is_capturing:
            raise UsageError("next() cannot be captured in a CUDA graph: call "
                             "it before each replay, with memory='fixed'")
        current = torch.cuda.current_stream(self.gpu)
        memory = self._take_memory(current) if self._gives_memory() else 0
        batch = stream.next(timeout, current.cuda_stream, memory)
        self.stream = current
        return batch

    def _take_memory(self, current: torch.cuda.Stream) -> int:
        """The address of memory that later work on this stream may write."""
        if self.memory == "own" or self.bytes is None:
            self.bytes = torch.empty(self.batch_bytes, dtype=torch.uint8,
                                     device=self.gpu)
            self.stream = current
        elif self.stream is not None and self.stream != current:
            # The batch before may still be read on the stream that it had.
            current.wait_stream(self.stream)
            self.bytes.record_stream(current)
        return self.bytes.data_ptr()

    def release(self, batch: Batch) -> None:
        super().release(batch)
        if self.memory == "own":
            self.bytes = None  # the tensors of the batch keep it

    def tensors(self, batch: Batch, names: tuple[tuple[str, int], ...]
                ) -> dict[str, torch.Tensor]:
        # next() made the current stream wait for the values: no tensor has to.
        if self.exchange is not None:
            values = batch.values(self.exchange, names)
        else:
            values = {name: _from_capsule(batch.capsule(i))
                      for name, i in names}
        if self.bytes is None:
            return values
        return {name: self._view(made) for name, made in values.items()}

    def tensor(self, tensor: Tensor) -> torch.Tensor:
        made: torch.Tensor = from_dlpack(tensor)
        return made if self.bytes is None else self._view(made)

    def _view(self, made: torch.Tensor) -> torch.Tensor:
        """The same values as a view of PyTorch's own memory."""
        assert self.bytes is not None
        if made.numel() == 0:  # without memory
            return made.clone()
        offset = made.data_ptr() - self.bytes.data_ptr()
        return torch.empty(0, dtype=made.dtype, device=made.device).set_(
            self.bytes.untyped_storage(), offset // made.element_size(),
            made.size(), made.stride())

    def nested(self, values: torch.Tensor, offsets: torch.Tensor,
               lengths: tuple[int, int]) -> torch.Tensor:
        return torch.nested.nested_tensor_from_jagged(
            values, offsets, min_seqlen=lengths[0], max_seqlen=lengths[1])

    def sparse(self, values: torch.Tensor, indices: torch.Tensor,
               offsets: Optional[torch.Tensor], shape: Sequence[int]
               ) -> torch.Tensor:
        if offsets is None:
            return torch.sparse_coo_tensor(indices, values, tuple(shape),
                                           check_invariants=False)
        return torch.sparse_csr_tensor(offsets, indices, values, tuple(shape),
                                       check_invariants=False)

    def _gives_memory(self) -> bool:
        return self.device.startswith("cuda") and self.memory != "ring"


class Loader(loader.Loader):
    """forebay.Loader with framework="torch"."""
    framework = "torch"
