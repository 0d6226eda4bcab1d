"""The plan as a table: jobs, time and memory by experiment and stage."""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from tabulate import tabulate

from carryover.workflow.plan import work

CORES = (2, 64)
GPU = "H200"
EVENING = 4 * 3600
NOT_MEASURED = "not measured"
HEADER = ["experiment", "stage", "jobs", "measured", "modelled", "not known", "MB",
          *(f"{cores} cores" for cores in CORES), f"one {GPU}", "×/÷", "evening"]  # fmt: skip


@dataclass
class Row:
    """Sums over jobs. `longest` is the longest single job [s]; `gpu` is None once a job has no rate there."""

    jobs: int = 0
    measured: int = 0
    unknown: int = 0
    megabytes: float = 0.0
    seconds: float = 0.0
    longest: float = 0.0
    gpu: float | None = 0.0
    log_error: float = field(default=0.0, repr=False)

    def add(self, here, there, megabytes):
        """Count a job: its `Estimate` on a core and on the GPU (None: no rate), and its memory [MB]."""
        self.jobs += 1
        self.measured += bool(here and here.measured)
        self.unknown += here is None
        self.megabytes = max(self.megabytes, megabytes)
        self.gpu = None if there is None or self.gpu is None else self.gpu + there.seconds
        if here:
            self.seconds += here.seconds
            self.longest = max(self.longest, here.seconds)
            # Errors of one law go together, so they are not taken to cancel in a sum.
            self.log_error += here.seconds * here.spread

    def add_row(self, other):
        """Count all jobs of another row."""
        for name in ("jobs", "measured", "unknown", "seconds", "log_error"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.megabytes, self.longest = max(self.megabytes, other.megabytes), max(self.longest, other.longest)
        self.gpu = None if self.gpu is None or other.gpu is None else self.gpu + other.gpu

    def on(self, cores):
        """Seconds on this many cores: all in parallel, but for the longest job."""
        return max(self.seconds / cores, self.longest)

    @property
    def factor(self):
        """By how much the sum may be too small or too large (one standard deviation)."""
        return math.exp(self.log_error / self.seconds) if self.seconds else 1.0

    def cells(self):
        """The row as text; what is a lower limit begins with ≥."""
        some = self.unknown < self.jobs
        least = "≥ " if self.unknown else ""
        modelled = self.jobs - self.measured - self.unknown
        times = [least + duration(self.on(cores)) if some else NOT_MEASURED for cores in CORES]
        memory = f"{'≥ ' if modelled or self.unknown else ''}{self.megabytes:.0f}" if self.megabytes else "?"
        gpu = NOT_MEASURED if self.gpu is None else duration(self.gpu)
        fits = "not known" if self.unknown else "yes" if self.on(CORES[0]) <= EVENING else "no"
        spread = f"{self.factor:.1f}" if some else ""
        return [self.jobs, self.measured, modelled, self.unknown, memory, *times, gpu, spread, fits]


def rows(made, here, there):
    """{(experiment or section, stage or measure): Row} of a `Sweep` by `Rates` here and on the GPU."""
    whole = defaultdict(Row)
    for rule, wildcards, _ in made.jobs():
        asked = work.of_job(made, rule, wildcards)
        where = wildcards.get("experiment", "all that is made of data")
        row = whole[where, wildcards["measure"] if rule == "measure" else rule]
        row.add(here.estimate(asked), there.estimate(asked), here.megabytes(asked))
    return whole


def total(some):
    """The sum of rows."""
    whole = Row()
    for row in some:
        whole.add_row(row)
    return whole


def text(rows):
    """The table of `rows`, with a sum for every experiment and one of all, and a line on what its columns mean."""
    lines, places = [], dict.fromkeys(place for place, _ in rows)
    for place in places:
        own = {stage: row for (where, stage), row in rows.items() if where == place}
        lines += [[place, stage, *row.cells()[:-1], ""] for stage, row in own.items()]
        lines.append([place, "all", *total(own.values()).cells()])
    lines.append(["all", "all", *total(rows.values()).cells()])
    aligned = ["left", "left", *["right"] * (len(HEADER) - 3), "left"]
    return tabulate(lines, HEADER, tablefmt="simple", colalign=aligned, disable_numparse=True) + "\n"


def laws(rates):
    """The table of what was fitted: kind, measured jobs, start-up, spread about the law, exponents that are not 1."""
    lines = [
        [" ".join(kind), rates.counts[kind], duration(fit.startup), f"{math.exp(fit.noise):.1f}", _exponents(fit)]
        for kind, fit in rates.fits.items()
    ]
    head = ["kind", "measured", "start-up", "×/÷", "exponents (1 where not named)"]
    return tabulate(lines, head, tablefmt="simple", disable_numparse=True) + "\n"


def _exponents(fit):
    return ", ".join(f"{size} {value:.1f}" for size, value in fit.exponents.items() if abs(value - 1) >= 0.05)


def duration(seconds):
    """'12 s', '3.4 min', '5.2 h' or '3.1 d'."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
