"""Overhead of jobs that ran: the share of their time that is neither training nor measuring."""

from collections import defaultdict

from tabulate import tabulate

from carryover.plan.table import duration
from carryover.sweep import STAGES

WORKING = (*STAGES, "measure")


def by_rule(jobs):
    """{rule: (number, seconds, seconds of overhead)} of `Measured` jobs.

    Of jobs that train or measure it is the start of Python and the imports: as long as the shortest job of their rule,
    or what is outside of their record where that is more. Of all other jobs it is everything.
    """
    rules = defaultdict(list)
    for job in jobs:
        rules[job.work.kind[0]].append(job)
    return {rule: (len(own), sum(job.seconds for job in own), _spent(rule, own)) for rule, own in rules.items()}


def _spent(rule, jobs):
    if rule not in WORKING:
        return sum(job.seconds for job in jobs)
    shortest = min(job.seconds for job in jobs)
    return sum(max(shortest, job.seconds - job.inside) for job in jobs)


def text(found):
    """The table of `by_rule`, with a sum."""
    whole = [sum(column) for column in zip(*found.values(), strict=True)]
    lines = [
        [rule, number, duration(seconds), duration(spent), f"{spent / seconds:.0%}"]
        for rule, (number, seconds, spent) in [*found.items(), ("all", whole)]
    ]
    return (
        tabulate(lines, ["rule", "jobs", "time", "overhead", "share"], tablefmt="simple", disable_numparse=True) + "\n"
    )
