"""Laws of cost against made-up measurements whose law is known, and the fit against SciPy's general minimiser."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from carryover.config import configuration
from carryover.workflow.plan import rates, work
from carryover.workflow.plan.measured import Measured
from carryover.workflow.plan.work import Work

STARTUP = 2.0


def job(seconds, kind=("finetune", "toy", "descent"), megabytes=100.0, experiment="", **sizes):
    """A measured job that takes `seconds` beyond its start-up."""
    asked = Work(kind, tuple(sizes.items()), {name: float(value) for name, value in sizes.items()}, experiment)
    return Measured(asked, STARTUP + seconds, seconds, seconds, megabytes, "cpu")


def grid(law, noise=0.0):
    generator = np.random.default_rng(0)
    points = [(round(runs), round(width)) for runs in np.geomspace(1, 1e3, 10) for width in np.geomspace(10, 1e4, 10)]
    return [
        job(law(runs, width) * math.exp(noise * generator.standard_normal()), runs=runs, width=width)
        for runs, width in points
    ]


def test_finds_a_known_law_and_extrapolates_by_it():
    fit = rates.Fit(grid(lambda runs, width: 0.5 * runs**0.8 * width**1.5), STARTUP)
    assert fit.exponents == pytest.approx({"runs": 0.8, "width": 1.5}, abs=0.02)
    found = fit.estimate(job(0, runs=10_000, width=100_000).work)
    assert found.seconds == pytest.approx(STARTUP + 0.5 * 10_000**0.8 * 100_000**1.5, rel=0.3)


def test_noise_is_found_and_errors_are_within_what_is_said():
    fit = rates.Fit(grid(lambda runs, width: 10 * runs * width, noise=0.7), STARTUP)
    assert fit.noise == pytest.approx(0.7, abs=0.15)
    found = fit.estimate(job(0, runs=10_000, width=100_000).work)
    assert abs(math.log(found.seconds / 1e10)) < 2 * found.spread


def test_what_never_varied_is_taken_to_cost_in_proportion_and_less_surely():
    fit = rates.Fit([job(10.0, runs=runs, width=50) for runs in (1, 10, 100)], STARTUP)
    assert fit.exponents["width"] == pytest.approx(1.0)
    near, far = (fit.estimate(job(0, runs=10, width=width).work) for width in (50, 500))
    assert far.seconds - STARTUP == pytest.approx(10 * (near.seconds - STARTUP))
    # An exponent known to a half as good as not at all: log 10 times its spread, besides the noise.
    expected = math.hypot(near.spread * far.seconds / near.seconds / 10, rates.EXPONENT_SPREAD * math.log(10))
    assert near.spread < far.spread < 1.1 * expected


def test_no_cost_falls_with_size():
    fit = rates.Fit(grid(lambda runs, width: 1e3 * runs / width), STARTUP)
    assert fit.exponents["width"] == 0.0


def test_what_varies_from_one_experiment_to_another_alone_says_little_of_sizes():
    small = [job(runs * 10.0, experiment="slow", runs=runs, width=10) for runs in (1, 10, 100)]
    large = [job(runs * 1.0, experiment="fast", runs=runs, width=100) for runs in (1, 10, 100)]
    fit = rates.Fit([*small, *large], STARTUP)
    assert fit.exponents["width"] > 0.5  # without experiments it would be 0
    wider = {name: fit.estimate(job(0, experiment=name, runs=10, width=100).work) for name in ("slow", "fast", "new")}
    assert wider["fast"].seconds == pytest.approx(STARTUP + 10, rel=0.1)
    assert wider["slow"].seconds > STARTUP + 10 * 10**0.5 * 10
    assert wider["fast"].seconds < wider["new"].seconds < wider["slow"].seconds
    assert wider["new"].spread > wider["slow"].spread > wider["fast"].spread


def test_a_limit_on_steps_costs_less_than_in_proportion_unless_it_was_seen_to():
    fit = rates.Fit([job(10.0, runs=1, max_steps=100)], STARTUP)
    times = {limit: fit.estimate(job(0, runs=1, max_steps=limit).work) for limit in (100, 1000)}
    ratio = (times[1000].seconds - STARTUP) / (times[100].seconds - STARTUP)
    assert ratio == pytest.approx(10**rates.LIMIT)
    seen = rates.Fit([job(0.1 * limit, max_steps=limit) for limit in (10, 100, 1000, 10_000)], STARTUP)
    assert seen.exponents["max_steps"] == pytest.approx(1, abs=0.05)


SHARDS = st.tuples(st.floats(0.01, 1e4), st.integers(1, 1000), st.integers(1, 1000), st.sampled_from("ab"))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(SHARDS, min_size=2, max_size=12, unique=True))
def test_exponents_minimise_what_is_said(points):
    jobs = [job(seconds, experiment=name, runs=runs, max_steps=steps) for seconds, runs, steps, name in points]
    fit = rates.Fit(jobs, STARTUP)
    logs = np.log([[runs, steps] for _, runs, steps, _ in points])
    others = np.array([[name == one for one in "ab"] for *_, name in points], dtype=float)
    working = np.maximum([seconds for seconds, *_ in points], rates.STARTUP_FLOOR * STARTUP)
    weights = (working / [STARTUP + seconds for seconds, *_ in points]) ** 2
    spreads = np.array([rates.EXPONENT_SPREAD, rates.EXPONENT_SPREAD, *[rates.EXPERIMENT_SPREAD] * 2])
    expected = np.array([1.0, rates.LIMIT, 0.0, 0.0])

    def loss(unknown):
        apart = np.log(working) - unknown[0] - np.hstack([logs, others]) @ unknown[1:]
        return weights @ apart**2 + np.sum((rates.LEAST_NOISE / spreads * (unknown[1:] - expected)) ** 2)

    bounds = [(None, None), (0, None), (0, None), (None, None), (None, None)]
    best = minimize(loss, [0.0, *expected], bounds=bounds, method="L-BFGS-B").fun
    exponents = np.array([fit.exponents["runs"], fit.exponents["max_steps"]])
    # With these exponents level and experiments are a linear problem, which another minimiser solves as well.
    rest = minimize(lambda u: loss(np.array([u[0], *exponents, *u[1:]])), np.zeros(3), method="BFGS").fun
    assert rest <= best * (1 + 1e-5) + 1e-6


def test_a_job_that_was_measured_is_looked_up():
    known = rates.Rates([job(7.0, runs=3), job(9.0, runs=3, megabytes=300.0), job(1000.0, runs=4)])
    found = known.estimate(job(0, runs=3).work)
    assert found == rates.Estimate(STARTUP + 8.0, 0.0, measured=True)
    assert known.megabytes(job(0, runs=3).work) == 300.0


def test_what_has_no_rate_is_said_to_have_none_but_for_what_is_made_of_data():
    known = rates.Rates([job(7.0, runs=3), job(2.0, kind=("figure", "one")), job(14.0, kind=("figure", "two"))])
    assert known.estimate(job(0, kind=("finetune", "toy", "exact"), runs=3).work) is None
    assert known.estimate(job(0, kind=("figure", "three")).work).seconds == pytest.approx(math.sqrt(4 * 16))
    assert known.megabytes(job(0, kind=("finetune", "toy", "exact")).work) == 0.0


def test_memory_of_a_new_size_is_the_largest_of_its_kind():
    known = rates.Rates([job(7.0, runs=3), job(9.0, runs=5, megabytes=300.0)])
    assert known.megabytes(job(0, runs=4).work) == 300.0


def test_a_protocol_that_costs_otherwise_has_a_law_of_its_own_and_else_that_of_its_solver():
    alike = [job(0.1 * runs, runs=runs) for runs in (10, 100, 1000)]
    apart = ("finetune", "toy", "descent", "multi_task")
    asked = job(0, kind=apart, runs=100).work
    pooled = rates.Rates(alike).estimate(asked)
    assert pooled.seconds == pytest.approx(rates.Rates(alike).estimate(job(0, runs=100, other=1).work).seconds)
    own = rates.Rates([*alike, *(job(5.0 * runs, kind=apart, runs=runs) for runs in (10, 1000))]).estimate(asked)
    assert own.seconds == pytest.approx(STARTUP + 500, rel=0.1)
    assert rates.Rates(alike).estimate(job(0, kind=("finetune", "toy", "flow"), runs=1).work) is None


def test_multi_task_is_apart_and_half_the_accuracy_is_twice_the_work():
    schema = configuration.schema()
    given = {"protocol": "multi_task", "solver": "flow", "accuracy": 0.1, "samples": [16, 32]}
    two, one = (work.stage(schema, "finetune", "diagonal", given | changed, 6)
                for changed in ({}, {"protocol": "single_task", "accuracy": 0.05}))  # fmt: skip
    assert two.kind == (*one.kind, "multi_task") == ("finetune", "diagonal", "flow", "multi_task")
    assert one.sizes["1/accuracy"] == 2 * two.sizes["1/accuracy"] == 20
    assert one.sizes["runs"] == two.sizes["runs"]
    assert (one.sizes["samples"], two.sizes["samples"]) == (24, 24 + 1024)  # those of both tasks
    assert "auxiliary_samples" not in one.sizes | two.sizes
