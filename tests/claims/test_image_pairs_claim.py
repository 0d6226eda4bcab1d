"""The claim about trained pairs of image tasks follows the runs that converged."""

import pytest

from carryover.claims.agreement import ERROR
from toy.linear_runs import size
from toy.made_up_runs import checks_of, dataset


def runs(effect, converged=1):
    def values(seed, solver, pair, samples, **_):
        if samples == 40:  # stopped short, and far off
            return {"risk_final": 0.5 * (solver == "exact"), "converged": int(solver == "exact")}
        off = ERROR * (1 - size(effect, seed)) * (pair == 1 and solver == "descent")
        return {"risk_final": 0.1 * pair - off, "converged": converged if solver == "descent" else 1}

    return {"risk": dataset(values, {"solver": ["exact", "descent"], "pair": [0, 1], "samples": [10, 40]})}


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
def test_it_follows_its_effect(effect, verdict):
    checked = checks_of("image_pairs", runs(effect))
    assert checked["verdict"].sel(claim="descent") == verdict
