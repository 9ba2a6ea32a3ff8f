# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at a bad moment."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import Any, Iterator


@contextlib.contextmanager
def delayed() -> Iterator[None]:
    """Handle the first Ctrl-C after the block, and a second one at once.
    PyTorch cannot be imported again after an import that was interrupted."""
    handler = signal.getsignal(signal.SIGINT)
    if (threading.current_thread() is not threading.main_thread()
            or not callable(handler)):
        yield
        return
    caught: list[tuple[Any, Any]] = []

    def note(*call: Any) -> None:
        caught.append(call)
        signal.signal(signal.SIGINT, handler)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if caught:
            handler(*caught[0])
