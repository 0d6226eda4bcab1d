"""Where and when a job ran, and what it took."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from datetime import UTC, datetime
from typing import Any


class Spent:
    """From its making on, what the process spends on one job.

    start, duration     begin, and seconds by the clock since
    processor_time      seconds of the processor since the process began, with those of the programs that it ran
    starting            of these, before the job: Python itself and imports
    peak_memory         bytes, of the process
    """

    def __init__(self) -> None:
        self._start, self._clock, self._before = datetime.now(UTC), time.perf_counter(), _processor_time()

    def by_now(self) -> dict[str, Any]:
        """The `volatile` part of a record."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "host": platform.node(),
            "platform": platform.platform(),
            "pid": os.getpid(),
            "start": self._start.isoformat(timespec="seconds"),
            "duration": round(time.perf_counter() - self._clock, 3),
            "processor_time": round(_processor_time(), 3),
            "starting": round(self._before, 3),
            "peak_memory": peak if sys.platform == "darwin" else peak * 1024,  # bytes there, KiB elsewhere
        }


def _processor_time() -> float:
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
