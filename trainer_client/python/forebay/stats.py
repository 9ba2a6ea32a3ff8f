# SPDX-License-Identifier: Apache-2.0
"""How fast batches are taken, and how long the trainer waits for them."""

from __future__ import annotations

import collections
import time
from typing import Any, Mapping

from forebay.log import logger

WARN_SHARE = 0.05    # of the time
WARN_STEPS = 50      # before it is judged
WARN_EVERY_S = 60.0
KEPT = 1000          # waits from which the percentiles are computed


class Waits:
    """The waits of one loader. Times between two epochs do not count, nor
    does the first batch, which waits for the opening."""

    def __init__(self) -> None:
        self.recent: collections.deque[int] = collections.deque(maxlen=KEPT)
        self.wait_ns = self.time_ns = self.steps = self.rows = 0
        self.last_ns = 0      # end of the last call; 0: none in this epoch
        self.reported_ns = self.warned_ns = 0

    def pause(self) -> None:
        """The time until the next batch does not count."""
        self.last_ns = 0

    def add(self, begin_ns: int, end_ns: int, rows: int) -> None:
        """Count a call that took a batch of `rows` rows."""
        if self.last_ns:
            self.recent.append(end_ns - begin_ns)
            self.wait_ns += end_ns - begin_ns
            self.time_ns += end_ns - self.last_ns
            self.steps += 1
            self.rows += rows
        self.last_ns = end_ns

    def percentile_ms(self, percent: int) -> float:
        """A percentile of the last waits, in milliseconds."""
        ordered = sorted(self.recent)
        if not ordered:
            return 0.0
        return ordered[min(len(ordered) * percent // 100,
                           len(ordered) - 1)] / 1e6

    @property
    def share(self) -> float:
        """The share of the time that was spent waiting, 0 to 1."""
        return self.wait_ns / self.time_ns if self.time_ns else 0.0

    def is_due(self) -> bool:
        """Whether a second has passed since it was true."""
        if self.last_ns - self.reported_ns < 1e9:
            return False
        self.reported_ns = self.last_ns
        return True

    def warn(self, stages: Mapping[str, int], ready: int) -> None:
        """Log the advice, if there is some and it was not just logged."""
        advice = self.advice(stages, ready)
        if advice and self.last_ns - self.warned_ns > WARN_EVERY_S * 1e9:
            self.warned_ns = self.last_ns
            logger.warning("%s", advice)

    def advice(self, stages: Mapping[str, int], ready: int) -> str:
        """What to do about waits above 5 % of the time; else ""."""
        if self.steps < WARN_STEPS or self.share <= WARN_SHARE:
            return ""
        work = {name: busy for name, busy in stages.items()
                if not name.endswith(".wait")}
        busiest = max(work, key=lambda name: work[name], default="")
        where = f"; most of the work is in {busiest}" if busiest else ""
        return (
            f"the trainer waits for data {self.share:.0%} of the time "
            f"(median {self.percentile_ms(50):.1f} ms a batch, 99th percentile "
            f"{self.percentile_ms(99):.1f} ms; "
            f"{ready} batches ready){where}: give it more workers, or more "
            "threads= if this machine has idle cores")


def summary(waits: Waits, stream: Mapping[str, Any]) -> dict[str, Any]:
    """The statistics of a loader, from those of its stream.

    rows_per_s, batches_per_s: since the opening, without pauses
    wait_ms_p50, wait_ms_p99:  of the last 1,000 batches
    wait_share:                of the time, 0 to 1
    batches_ready:             received, not taken yet
    stages:                    busy seconds by name, summed over threads;
                               worker.wait: seconds that batches were queued
    advice:                    a sentence, if wait_share is above 0.05 after
                               50 batches; else ""
    stream:                    all counters of the library"""
    seconds = waits.time_ns / 1e9
    return {
        "steps": stream["steps"],
        "rows_per_s": waits.rows / seconds if seconds else 0.0,
        "batches_per_s": waits.steps / seconds if seconds else 0.0,
        "wait_ms_p50": waits.percentile_ms(50),
        "wait_ms_p99": waits.percentile_ms(99),
        "wait_share": waits.share,
        "batches_ready": stream["batches_ready"],
        "stages": {name: busy / 1e9
                   for name, busy in stream["stages"].items()},
        "advice": waits.advice(stream["stages"], stream["batches_ready"]),
        "stream": dict(stream),
    }


now_ns = time.perf_counter_ns
