"""Snakemake's output as one progress line: `snakemake --logger progress`, with the folder above on PYTHONPATH.

A terminal shows one line, rewritten when a job starts or ends; a log gets one for every tenth of the jobs, or after 30
seconds. Errors with the logs of failed jobs, warnings and dry runs are printed as Snakemake prints them.
The plugin `rich` would be an alternative, but it knows no time left, prints nothing while a run without a terminal
goes on, and leaves the jobs out of a dry run.
"""

import logging
import shutil
import sys
import time
from collections import Counter

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

ROUTINE = ("Assuming", "Using shell", "Provided", "Rules claiming", "Conda env", "Singularity", "Select", "Execute")
SECONDS_WITHOUT_A_LINE = 30


class LogHandler(LogHandlerBase):
    """Handles the records of one run, in one thread."""

    writes_to_stream, writes_to_file = True, False
    has_filter = has_formatter = needs_rulegraph = False  # Snakemake attaches its own

    def __post_init__(self):
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.started = self.printed = time.monotonic()
        self.done = self.total = 0
        self.jobs, self.finished, self.seconds = Counter(), Counter(), Counter()  # by rule; seconds of those finished
        self.running = {}  # {number of a job: (its rule, its name, when it started)}

    def emit(self, record):
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_ERROR:
            self.running.pop(record.jobid, None)
        if record.levelno >= logging.WARNING or self.common_settings.dryrun:
            self.print(self.format(record))
        elif event == LogEvent.RUN_INFO:
            self.jobs.update(record.stats)
            self.total = self.jobs.pop("total")
        elif event == LogEvent.JOB_INFO:
            name = " ".join([record.rule_name, *record.wildcards.values()])
            self.running[record.jobid] = record.rule_name, name, time.monotonic()
            self.rewrite(self.line() if record.output else "")  # a job without output may print something itself
        elif event == LogEvent.JOB_FINISHED and record.job_id in self.running:
            rule, _, began = self.running.pop(record.job_id)
            self.finished[rule] += 1
            self.seconds[rule] += time.monotonic() - began
        elif event == LogEvent.PROGRESS:
            due = 10 * record.done // record.total > 10 * self.done // record.total
            due = due or time.monotonic() - self.printed > SECONDS_WITHOUT_A_LINE
            self.done, self.total = record.done, record.total
            write = self.print if self.done == self.total or (due and not self.stream.isatty()) else self.rewrite
            write(self.line())
        elif event is None and not hasattr(record, "quietness") and not str(record.msg).startswith(ROUTINE):
            self.print(self.format(record))

    def line(self):
        now = ", ".join(name for _, name, _ in self.running.values())
        text = f"{self.done} of {self.total} jobs done{self.time_left()}" + (f"; now {now}" if now else "")
        return text[: shutil.get_terminal_size((120, 24)).columns - 1]

    def time_left(self):
        """The jobs left, each with the mean of its rule or else of all, at the rate of work so far."""
        work, finished = self.seconds.total(), self.finished.total()
        if not finished or self.done == self.total:
            return ""
        means = {rule: self.seconds[rule] / count for rule, count in self.finished.items()}
        ahead = sum((self.jobs[rule] - self.finished[rule]) * means.get(rule, work / finished) for rule in self.jobs)
        minutes = ahead / work * (time.monotonic() - self.started) / 60
        return f", about {max(minutes, 1):.0f} min left"

    def rewrite(self, text):
        """Replace the terminal's line; where there is no terminal, nothing."""
        if self.stream.isatty():
            print(f"\r\033[K{text}", end="", file=self.stream, flush=True)

    def print(self, text):
        self.rewrite("")
        print(text, file=self.stream, flush=True)
        self.printed = time.monotonic()
