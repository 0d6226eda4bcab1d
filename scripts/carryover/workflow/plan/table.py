"""The plan as a table: jobs, time and memory by experiment and stage."""

import math
from collections import defaultdict
from dataclasses import dataclass

from tabulate import tabulate

from carryover.workflow.plan import work

CORES = (2, 64)
GPU = "H200"
EVENING = 4 * 3600
NOT_MEASURED = "not measured"
HEADER = ["experiment", "stage", "jobs", "measured", "modelled", "not known", "MB",
          *(f"{cores} cores" for cores in CORES), f"one {GPU}", "×/÷", "evening"]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """Jobs, each as its `Estimate` on a core and on the GPU (None: no rate) and its memory [MB]."""

    jobs: list

    @property
    def known(self):
        """The estimates on a core, of the jobs that have one."""
        return [here for here, _, _ in self.jobs if here]

    def on(self, cores):
        """Seconds on this many cores: all in parallel, but for the longest job."""
        seconds = [one.seconds for one in self.known]
        return max([sum(seconds) / cores, *seconds])

    @property
    def factor(self):
        """By how much the sum may be too small or too large (one standard deviation)."""
        # Errors of one law go together, so they are not taken to cancel in a sum.
        error, seconds = sum(one.seconds * one.spread for one in self.known), self.on(1)
        return math.exp(error / seconds) if seconds else 1.0

    def cells(self):
        """The row as text; what is a lower limit begins with ≥."""
        known = self.known
        measured, unknown = sum(one.measured for one in known), len(self.jobs) - len(known)
        modelled = len(known) - measured
        least = "≥ " if unknown else ""
        times = [least + duration(self.on(cores)) if known else NOT_MEASURED for cores in CORES]
        megabytes = max((memory for *_, memory in self.jobs), default=0.0)
        memory = f"{'≥ ' if modelled or unknown else ''}{megabytes:.0f}" if megabytes else "?"
        there = [one for _, one, _ in self.jobs]
        gpu = NOT_MEASURED if None in there else duration(sum(one.seconds for one in there))
        fits = "not known" if unknown else "yes" if self.on(CORES[0]) <= EVENING else "no"
        spread = f"{self.factor:.1f}" if known else ""
        return [len(self.jobs), measured, modelled, unknown, memory, *times, gpu, spread, fits]


def rows(made, here, there):
    """{(experiment or section, stage or measure): Row} of a `Sweep` by `Rates` here and on the GPU."""
    jobs = defaultdict(list)
    for rule, wildcards, _ in made.jobs():
        asked = work.of_job(made, rule, wildcards)
        where = wildcards.get("experiment", "all that is made of data")
        stage = wildcards["measure"] if rule == "measure" else rule
        jobs[where, stage].append((here.estimate(asked), there.estimate(asked), here.megabytes(asked)))
    return {place: Row(own) for place, own in jobs.items()}


def total(some):
    """The row of all jobs of some rows."""
    return Row([job for row in some for job in row.jobs])


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
