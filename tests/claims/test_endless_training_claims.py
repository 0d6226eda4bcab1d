"""Claims about endless training follow the trajectories that they are given."""

import numpy as np
import pytest

from carryover.claims.cross_entropy import NEAR
from toy.linear_runs import size
from toy.made_up_runs import SEEDS, checks_of, dataset

MARGINS = np.geomspace(1, 1000, 13)


def trajectories(effect):
    """Norms grow with the margin γ; ratios between runs change by a power of γ, which the effect decides."""

    def values(seed, protocol, initial_scale, **_):
        change = 0.05 * size(effect, seed)  # decades a decade of margin
        decades = np.log10(MARGINS)
        norm, group, error = decades, decades + 0.3, np.full(len(MARGINS), -0.5)
        if protocol == "finetuning":
            norm = norm + 0.4 - change * decades
            # The gap is NEAR at the late margin and without effect; the effect makes it fall to below that.
            error = error - NEAR - change * (1 - decades)
        if protocol == "multi_task":
            error = error - change
            group = group + (0.4 - change * decades) * (initial_scale == 1)
        curves = {"l1_norm_curve": norm, "group_norm_curve": group, "risk_curve": error}
        return {name: 10**curve for name, curve in curves.items()} | {"loss_curve": np.log1p(np.exp(-MARGINS))}

    scales = {"initial_scale": [0.1, 1.0]}
    grids = [
        {"protocol": ["single_task", "multi_task"], **scales},
        {"protocol": ["finetuning"], "initial_scale": [np.nan]},
    ]
    return {"trajectory": dataset(values, *grids, along="checkpoint")}


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
def test_every_claim_follows_its_effect(effect, verdict):
    checked = checks_of("endless_training", trajectories(effect))
    found = checked["verdict"].to_series().to_dict()
    names = ("norm_nearer", "error_nearer", "alike", "start_forgotten", "shared")
    assert found == dict.fromkeys(names, verdict)
    assert (checked["seeds"] == len(SEEDS)).all()
