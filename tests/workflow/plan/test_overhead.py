"""Overhead of made-up jobs, against values by hand."""

import re

from carryover.workflow.plan import overhead
from carryover.workflow.plan.measured import Measured
from carryover.workflow.plan.work import Work


def job(rule, plugin, seconds, inside):
    return Measured(Work((rule, plugin), (), {}), 2 * seconds, seconds + inside, seconds, 100.0, "cpu")


def test_starting_is_overhead_of_jobs_that_work_and_everything_of_others():
    jobs = [
        job("finetune", "quick", 2.0, 1.5),
        job("finetune", "quick", 10.0, 9.5),
        job("finetune", "large", 20.0, 17.0),  # takes 3 s before its record begins
        job("measure", "risk", 1.0, 0.5),
        job("figure", "curves", 5.0, 4.0),
    ]
    assert overhead.by_rule(jobs) == {
        "finetune": (3, 32.0, 1.0 + 1.0 + 3.0),
        "measure": (1, 1.0, 1.0),
        "figure": (1, 5.0, 5.0),
    }
    shares = dict(re.findall(r"^(\w+) .* (\d+)%$", overhead.text(jobs), re.M))
    assert shares == {"finetune": "16", "measure": "100", "figure": "100", "all": "29"}
