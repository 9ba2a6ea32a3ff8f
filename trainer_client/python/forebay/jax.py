# SPDX-License-Identifier: Apache-2.0
"""Batches of JAX arrays, by DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

from forebay import adapters, loader

if TYPE_CHECKING:
    from forebay._forebay import Tensor


class Adapter(adapters.Adapter):
    """Arrays are JAX's: on the host JAX copies memory whose alignment it
    cannot use."""
    name = "jax"
    array_type = jax.Array

    def tensor(self, tensor: Tensor) -> Any:
        return jax.dlpack.from_dlpack(tensor)


class Loader(loader.Loader):
    """forebay.Loader with framework="jax"."""
    framework = "jax"
