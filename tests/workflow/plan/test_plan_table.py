"""Sums and words of the plan's table, against values by hand."""

import math

import pytest

from carryover.workflow.plan import table
from carryover.workflow.plan.rates import Estimate


def row(*jobs):
    return table.Row([(here, there, 100.0) for here, there in jobs])


def modelled(seconds, spread=0.0):
    return Estimate(seconds, spread, measured=False)


def cells(made):
    return dict(zip(table.HEADER[2:], made.cells(), strict=True))


def test_cores_share_all_but_the_longest_job():
    made = row(*[(modelled(3600.0), None)] * 3, (modelled(6 * 3600.0), None))
    assert (made.on(1), made.on(2), made.on(64)) == (9 * 3600, 6 * 3600, 6 * 3600)
    assert cells(made)["2 cores"] == cells(made)["64 cores"] == "6.0 h"
    assert cells(made)["evening"] == "no"


def test_an_evening_is_four_hours_on_two_cores():
    assert cells(row(*[(modelled(7200.0), None)] * 4))["evening"] == "yes"
    assert cells(row(*[(modelled(7201.0), None)] * 4))["evening"] == "no"


def test_a_sum_with_gaps_is_a_lower_limit():
    gaps = cells(row((modelled(600.0), None), (None, None)))
    assert (gaps["2 cores"], gaps["evening"], gaps["not known"]) == ("≥ 10.0 min", "not known", 1)
    nothing = cells(row((None, None)))
    assert (nothing["2 cores"], nothing["64 cores"], nothing["×/÷"]) == (table.NOT_MEASURED, table.NOT_MEASURED, "")


def test_the_gpu_needs_a_rate_for_every_job():
    assert cells(row((None, modelled(30.0)), (None, modelled(60.0))))["one H200"] == "90 s"
    assert cells(row((None, modelled(30.0)), (None, None), (None, modelled(1.0))))["one H200"] == table.NOT_MEASURED


def test_errors_of_long_jobs_count_most_and_do_not_cancel():
    made = row((modelled(90.0, spread=math.log(3)), None), (Estimate(10.0, 0.0, measured=True), None))
    assert made.factor == pytest.approx(3**0.9)
    assert row(*[(modelled(1.0, spread=math.log(3)), None)] * 100).factor == pytest.approx(3)


def test_memory_is_a_lower_limit_unless_every_job_was_measured():
    known = Estimate(1.0, 0.0, measured=True)
    assert cells(row((known, None)))["MB"] == "100"
    assert cells(row((known, None), (modelled(1.0), None)))["MB"] == "≥ 100"


def test_a_sum_of_rows_is_the_row_of_all_jobs():
    jobs = [(modelled(5.0, 0.1), modelled(1.0)), (None, modelled(2.0)), (Estimate(7.0, 0.0, measured=True), None)]
    assert table.total([row(jobs[0]), row(*jobs[1:])]) == row(*jobs)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (119, "119 s"), (120, "2.0 min"), (7199, "120.0 min"), (7200, "2.0 h"), (180000, "2.1 d")],
)
def test_durations(seconds, text):
    assert table.duration(seconds) == text
