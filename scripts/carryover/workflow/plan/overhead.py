"""Overhead of jobs that ran: the share of the processor's time that is neither training nor measuring."""

from collections import defaultdict

from tabulate import tabulate

from carryover.config.artifacts import STAGES
from carryover.workflow.plan.table import duration

WORKING = (*STAGES, "measure")


def by_rule(jobs):
    """{rule: (number, seconds of the processor, of these overhead)} of `Measured` jobs.

    Of jobs that train or measure it is the start of Python and the imports: as long as the shortest of them all, or
    what is outside of their record where that is more. Of all other jobs it is everything.
    """
    rules = defaultdict(list)
    for job in jobs:
        rules[job.work.kind[0]].append(job)
    shortest = min((job.processor for rule in WORKING for job in rules.get(rule, ())), default=0.0)
    sums = {}
    for rule, own in rules.items():
        starts = (max(shortest, job.seconds - job.inside) if rule in WORKING else job.processor for job in own)
        sums[rule] = len(own), sum(job.processor for job in own), sum(starts)
    return sums


def text(jobs):
    """The table of `by_rule`, with a sum."""
    sums = by_rule(jobs)
    whole = [sum(column) for column in zip(*sums.values(), strict=True)]
    lines = [
        [rule, number, duration(seconds), duration(spent), f"{spent / seconds:.0%}"]
        for rule, (number, seconds, spent) in [*sums.items(), ("all", whole)]
    ]
    return (
        tabulate(lines, ["rule", "jobs", "time", "overhead", "share"], tablefmt="simple", disable_numparse=True) + "\n"
    )
