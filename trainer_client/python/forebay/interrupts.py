# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at a bad moment."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from typing import Any, Iterator


@contextlib.contextmanager
def in_import() -> Iterator[None]:
    """Handle Ctrl-C during an import. PyTorch cannot be imported again after an
    import that was interrupted. So at a prompt the first Ctrl-C is handled
    after the block, and a second one at once. A script is to end: there the
    first one is KeyboardInterrupt at once, whatever the import makes of it."""
    handler = signal.getsignal(signal.SIGINT)
    if (threading.current_thread() is not threading.main_thread()
            or not callable(handler)):
        yield
        return
    at_prompt = hasattr(sys, "ps1") or sys.flags.interactive
    caught: list[tuple[Any, Any]] = []

    def note(*call: Any) -> None:
        caught.append(call)
        signal.signal(signal.SIGINT, handler)
        if not at_prompt:
            handler(*call)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if caught and at_prompt:
            handler(*caught[0])
        elif caught and handler is signal.default_int_handler:
            raise KeyboardInterrupt from None
