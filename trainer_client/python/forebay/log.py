# SPDX-License-Identifier: Apache-2.0
"""Lines of the library's log, as records of logging.getLogger("forebay").

No thread of the library calls Python: the lines wait in a queue of the
extension, and the loader takes them out from time to time."""

from __future__ import annotations

import logging
import sys
import time

logger = logging.getLogger("forebay")

_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


def drain() -> None:
    """Hand the waiting lines to `logging`."""
    from forebay import _forebay
    for level, line in _forebay.log_lines():
        logger.log(_LEVELS[level], "%s", line)


class ScanProgress:
    """Shows how far workers are with the first scan of a source: on a terminal
    or in a notebook as one line, and in the log every ten seconds."""

    def __init__(self) -> None:
        self.start = self.logged = time.monotonic()
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.start > 1 and _has_viewer():
            self.shown = True
            print(f"\rforebay: scanning the data, {done} of {total} shards",
                  end="", file=sys.stderr, flush=True)
        if now - self.logged >= 10:
            self.logged = now
            logger.info("scanning the data: %d of %d shards", done, total)

    def end(self) -> None:
        """End the line, if there is one."""
        if self.shown:
            print(file=sys.stderr)


def _has_viewer() -> bool:
    return sys.stderr is not None and (
        sys.stderr.isatty() or "ipykernel" in sys.modules)
