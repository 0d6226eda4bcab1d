"""Claims about wide ReLU networks hold, fail or stay open as the runs that they are about say."""

import numpy as np
import pytest
import xarray as xr

from carryover.provenance import store
from toy.made_up_runs import checks_of

SEEDS = range(6)
SIZES, DISTANCES = (16, 64, 256), (0.0, 0.25, 0.5, 1.5)
CLAIMS = (
    "bound", "vacuous", "sharp", "attained", "imperfect", "grows", "near_helps", "far_hurts", "limit",
)  # fmt: skip


def runs(changes=(), seeds=SEEDS):
    """Networks of which every claim holds, with the variables that `changes` give at some points: (condition, them).

    A change may be a function of the seed.
    """
    rows = []
    for seed in seeds:
        for protocol in ("single_task", "finetuning"):
            for solver in ("descent", "exact"):
                for n in SIZES:
                    rows += [_row(seed, protocol, solver, n, d, changes) for d in DISTANCES]
    np.random.default_rng(0).shuffle(rows)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    names = ("seed", "protocol", "solver", "samples", "distance")
    return xr.Dataset({k: ("run", v) for k, v in columns.items() if k not in names},
                      {name: ("run", columns[name]) for name in names})  # fmt: skip


def _row(seed, protocol, solver, n, distance, changes):
    way = distance if protocol == "finetuning" else 1.0
    reached = 1.97 - 4 / n
    row = {
        "seed": seed, "protocol": protocol, "solver": solver, "samples": n, "distance": distance,
        "absolute_risk": 0.1 * (way + 0.01) / n, "start_risk": (0.6 if n == 256 else 0.3) * way,
        "tangent_distance": 0.01 * way,
        "ntk_norm": (reached + (1.5 if distance == 0.25 else 0.1)) * way, "ntk_norm_linear": reached * way,
        "bound": 2 * reached * way / np.sqrt(n),
        "corollary": 3 * way,
    }  # fmt: skip
    if solver == "exact":  # no claim is about these
        row |= dict.fromkeys(("absolute_risk", "bound", "ntk_norm", "ntk_norm_linear", "tangent_distance"), 77.0)
    for condition, values in changes:
        if all(row[name] == value for name, value in condition.items()):
            row |= {name: value(seed) if callable(value) else value for name, value in values.items()}
    return row


def checked(*changes):
    return checks_of("ntk_bound", {"bound": runs(changes)}).to_dataframe()


def test_all_hold_where_all_is_as_claimed(tmp_path):
    result = checks_of("ntk_bound", {"bound": runs()})
    assert result["claim"].values.tolist() == list(CLAIMS)
    assert (result["verdict"] == "holds").all()
    assert (result["seeds"] == len(SEEDS)).all()
    store.save(result, tmp_path / "claims.nc")


AT = {"protocol": "finetuning", "solver": "descent", "distance": 0.25}
ALONE = {"protocol": "single_task", "solver": "descent"}
ONE_FAILS = [
    ({"bound", "vacuous"}, AT | {"samples": 64}, {"bound": 1e-5}),
    ({"bound"}, ALONE | {"samples": 64, "distance": 1.5}, {"bound": 1e-5}),
    ({"vacuous"}, AT | {"samples": 64}, {"start_risk": 0.3}),
    (set(), AT | {"samples": 256}, {"start_risk": 0.3}),
    ({"sharp"}, AT | {"samples": 16}, {"ntk_norm_linear": 0.25 * 2.01}),
    ({"attained"}, AT | {"samples": 256}, {"ntk_norm_linear": 0.25 * 1.89}),
    (set(), AT | {"samples": 256}, {"ntk_norm_linear": 0.25 * 1.91}),
    ({"imperfect"}, AT, {"ntk_norm": 0.25 * 2.99}),
    (set(), AT | {"samples": 256}, {"ntk_norm": 0.25 * 2.99}),
    (set(), AT | {"distance": 0.5}, {"ntk_norm": 0.5 * 2.99}),
    ({"grows", "near_helps"}, AT | {"samples": 16}, {"absolute_risk": 0.1}),
    ({"near_helps"}, ALONE | {"distance": 0.5, "samples": 64}, {"absolute_risk": 1e-6}),
    ({"far_hurts"}, ALONE | {"distance": 1.5}, {"absolute_risk": 0.03}),
    ({"limit"}, ALONE | {"distance": 0.5, "samples": 16}, {"tangent_distance": 0.061}),
    ({"limit"}, AT | {"samples": 16}, {"tangent_distance": 0.016}),
    (set(), {"distance": 0.0}, {"absolute_risk": 9.0, "ntk_norm_linear": 9.0, "tangent_distance": 9.0}),
]


@pytest.mark.parametrize(("claims", "condition", "change"), ONE_FAILS)
def test_the_runs_that_a_claim_is_about_decide_it(claims, condition, change):
    found = checked((condition, change))
    assert set(found.index[found["verdict"] == "fails"]) == claims
    assert (found.drop(index=list(claims))["verdict"] == "holds").all()
