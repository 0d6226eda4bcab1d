"""Snakemake's output as one progress line: `snakemake --logger progress`, with the folder above on PYTHONPATH.

A terminal shows one line, rewritten when a job starts or ends; a log gets one for every tenth of the jobs. Errors with
the logs of failed jobs, warnings and dry runs are printed as Snakemake prints them. Its own `--quiet rules` would hide
the logs of failed jobs, and the plugin `rich` prints nothing while a run without a terminal goes on.
"""

import logging
import shutil
import sys
import time

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

ROUTINE = ("Assuming", "Using shell", "Provided", "Rules claiming", "Conda env", "Singularity", "Select", "Execute")


class LogHandler(LogHandlerBase):
    """Handles the records of one run, in one thread."""

    writes_to_stream, writes_to_file = True, False
    has_filter = has_formatter = needs_rulegraph = False  # Snakemake attaches its own

    def __post_init__(self):
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.started, self.done, self.total = time.monotonic(), 0, 0

    def emit(self, record):
        event = getattr(record, "event", None)
        if record.levelno >= logging.WARNING or self.common_settings.dryrun:
            self.print(self.format(record))
        elif event == LogEvent.RUN_INFO:
            self.total = record.stats["total"]
        elif event == LogEvent.JOB_INFO:  # a job without output may print something itself
            self.rewrite(self.line(record.rule_name, *record.wildcards.values()) if record.output else "")
        elif event == LogEvent.PROGRESS:
            tenths = [10 * done // record.total for done in (self.done, record.done)]
            self.done, self.total = record.done, record.total
            due = self.done == self.total or (tenths[0] < tenths[1] and not self.stream.isatty())
            (self.print if due else self.rewrite)(self.line())
        elif event is None and not hasattr(record, "quietness") and not str(record.msg).startswith(ROUTINE):
            self.print(self.format(record))

    def line(self, *job):
        text = f"{self.done} of {self.total} jobs done in {time.monotonic() - self.started:.0f} s"
        text += f"; begun: {' '.join(job)}" if job else ""
        return text[: shutil.get_terminal_size((120, 24)).columns - 1]

    def rewrite(self, text):
        """Replace the terminal's line; where there is no terminal, nothing."""
        if self.stream.isatty():
            print(f"\r\033[K{text}", end="", file=self.stream, flush=True)

    def print(self, text):
        self.rewrite("")
        print(text, file=self.stream, flush=True)
