# SPDX-License-Identifier: Apache-2.0
"""Batches of JAX arrays, by DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

from forebay import frames, loader

if TYPE_CHECKING:
    from forebay._forebay import Tensor


class FRAME(frames.Frame):
    """Arrays are JAX's: on the host JAX copies memory whose alignment it
    cannot use."""
    name = "jax"

    def tensor(self, tensor: Tensor) -> Any:
        return jax.dlpack.from_dlpack(tensor)


class Loader(loader.Loader):
    """forebay.Loader with framework="jax"."""
    framework = "jax"
