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

from typing import TYPE_CHECKING, Optional, Sequence

import torch
from torch.utils.dlpack import from_dlpack

from forebay import frames, loader
from forebay.errors import ClusterError, UsageError

if TYPE_CHECKING:
    from forebay._forebay import Batch, Stream, Tensor


_is_profiled = getattr(torch.autograd, "_profiler_enabled", lambda: False)
# Without the Python code of from_dlpack(), which a capsule does not need.
_from_capsule = getattr(torch._C, "_from_dlpack", from_dlpack)


class FRAME(frames.Frame):
    """Tensors on the host or on one GPU."""
    name = "torch"
    memories = ("own", "ring", "fixed")

    def __init__(self, device: object, memory: Optional[str]):
        super().__init__(device, memory)
        self.gpu: Optional[torch.device] = None
        self.batch_bytes = 0
        self.bytes: Optional[torch.Tensor] = None  # of the batch being taken
        self.cuda_stream = 0

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
        if stream.info["device"].startswith("cuda"):
            self.gpu = torch.device(stream.info["device"])
            self.batch_bytes = stream.info["batch_bytes"]

    def next(self, stream: Stream, timeout: float) -> Optional[Batch]:
        if _is_profiled():
            with torch.profiler.record_function("forebay.next"):
                return self._next(stream, timeout)
        if self.gpu is None:
            return stream.next(timeout)
        return self._next(stream, timeout)

    def _next(self, stream: Stream, timeout: float) -> Optional[Batch]:
        if self.gpu is None:
            return stream.next(timeout)
        self.cuda_stream = torch.cuda.current_stream(self.gpu).cuda_stream
        if not self._gives_memory():
            return stream.next(timeout, self.cuda_stream)
        if self.memory == "own" or self.bytes is None:
            self.bytes = torch.empty(self.batch_bytes, dtype=torch.uint8,
                                     device=self.gpu)
        return stream.next(timeout, self.cuda_stream, self.bytes.data_ptr())

    def release(self, batch: Batch) -> None:
        if self.gpu is None:
            batch.release()
            return
        batch.release(self.cuda_stream)
        if self.memory == "own":
            self.bytes = None  # the tensors of the batch keep it

    def tensors(self, batch: Batch, names: Sequence[tuple[str, int]]
                ) -> dict[str, torch.Tensor]:
        if self.gpu is not None:
            return super().tensors(batch, names)
        capsule, values = batch.capsule, {}
        for name, i in names:
            values[name] = _from_capsule(capsule(i))
        return values

    def tensor(self, tensor: Tensor) -> torch.Tensor:
        if self.bytes is None:
            return from_dlpack(tensor)
        made: torch.Tensor = from_dlpack(tensor)
        if made.numel() == 0:
            return made.clone()
        # The same values as a view of PyTorch's own memory.
        offset = made.data_ptr() - self.bytes.data_ptr()
        if not 0 <= offset < self.batch_bytes:
            return made.clone()
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
