# SPDX-License-Identifier: Apache-2.0
"""Batches for training, prepared by CPU workers.

    import forebay
    loader = forebay.Loader("photos.yaml", split="train", device="cuda")
    for epoch in range(90):
        for batch in loader:
            step(batch["image"], batch["label"])

The import is cheap: a name is imported when it is first used, the C library and
the framework when a loader is opened. forebay.torch, forebay.numpy and
forebay.jax have the same Loader with another default framework."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forebay.errors import (
        ClusterError, DataError, Error, HeldError, PipelineError, StateError,
        Timeout, UsageError)
    from forebay.loader import Loader
    __version__: str

__all__ = [
    "ClusterError", "DataError", "Error", "HeldError", "Loader",
    "PipelineError", "StateError", "Timeout", "UsageError"]

if not TYPE_CHECKING:
    def __getattr__(name):
        import importlib
        if name in ("torch", "numpy", "jax"):
            return importlib.import_module(f"forebay.{name}")
        if name == "__version__":
            return importlib.import_module("forebay._forebay").__version__
        if name not in __all__:
            raise AttributeError(f"module forebay has no attribute {name!r}")
        home = "loader" if name == "Loader" else "errors"
        value = getattr(importlib.import_module(f"forebay.{home}"), name)
        globals()[name] = value
        return value

    def __dir__():
        return [*globals(), *__all__, "torch", "numpy", "jax"]
