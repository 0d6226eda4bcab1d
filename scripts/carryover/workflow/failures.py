"""What failed jobs have said, shown at the end of a run: with `-q` and on a cluster Snakemake shows commands alone.

The Snakefile imports this module. Standard library only.
"""

import logging
import sys
from pathlib import Path

from carryover.provenance.store import space_left

_MOST = 10
"""Jobs that are shown."""


class Failures(logging.Handler):
    """Collects the failed jobs that Snakemake reports to its logger, `{output: log}`, in a run's `first` process."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.logs: dict[str, str] = {}
        if first:
            logging.getLogger("snakemake.logging").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(getattr(record, "event", None), "name", "") == "JOB_ERROR":
            outputs, logs = record.__dict__.get("output") or (), record.__dict__.get("log") or ()
            self.logs.update({str(output): str(log) for output, log in zip(outputs[:1], logs, strict=False)})

    def tell(self) -> None:
        """Print a sentence on each failed job."""
        for output, log in list(self.logs.items())[:_MOST]:
            print(f"carryover: {output}: {sentence_of(log)}", file=sys.stderr)
        if len(self.logs) > _MOST:
            print(f"carryover: and {len(self.logs) - _MOST} more jobs failed", file=sys.stderr)


def sentence_of(log: str) -> str:
    """What the log of a failed job says: its last line, or, of an error of the code, the line above its trace."""
    try:
        lines = [line for line in Path(log).read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    of_code = [line for line in lines if line.endswith("an error of the code, not of the data:")]
    if lines:
        return f"{(of_code or lines)[-1].strip().removesuffix(':')} ({log})"
    return f"it ended without a word, as for lack of memory, time or space{space_left(log)}; its log would be {log}"
