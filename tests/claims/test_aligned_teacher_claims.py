"""Claims about depth and aligned tasks hold, fail or stay open as the runs that they are about say."""

import numpy as np
import pytest

from toy.linear_runs import size
from toy.made_up_runs import SEEDS, checks_of, dataset

GRID = {
    "solver": ["exact"],
    "angle": [0.0, 0.25],
    "noise": [0.0],
    "depth": [1, 10, 100],
    "samples": [10, 50],
    "target_norm": [1.0, 6.0],
    "source_norm": [2.0],
}


def runs(effect):
    """Risks fall with the depth's power 1.5 plus the effect."""

    def values(seed, angle, depth, target_norm, **_):
        if angle > 0:
            return 7.0
        fall = {1: 0.0, 10: 0.5 + size(effect, seed), 100: 2.0 + 2 * size(effect, seed)}[depth]
        return -(fall if target_norm == 6 else 9 * np.log10(depth))

    def made(**point):
        return {"risk_final": 10.0 ** values(**point), "converged": 1, "loss": 0.0}

    return {"risk": dataset(made, {"protocol": ["finetuning"], **GRID})}


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
def test_every_claim_follows_its_effect(effect, verdict):
    checked = checks_of("aligned_teachers", runs(effect))
    found = checked["verdict"].to_series().to_dict()
    assert found == dict.fromkeys(("deep", "vanishes"), verdict)
    assert (checked["seeds"] == len(SEEDS)).all()
