"""Claims about depth and aligned tasks hold, fail or stay open as the runs that they are about say."""

import numpy as np
import pytest

from carryover.claims import aligned_teachers
from carryover.errors import UserError
from toy.linear_runs import size
from toy.made_up_runs import SEEDS, dataset

P = aligned_teachers.Parameters()
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
    """Of scratch risk 1: eq 8 asks for 1 and 4/9 of it; risks fall with the depth's power 1.5 plus the effect."""

    def values(seed, protocol, angle, depth, target_norm, **_):
        if angle > 0 or protocol == "single_task":
            return 0.0 if angle == 0 else 7.0
        off = P.near * (1 - size(effect, seed))
        eq_8 = {1.0: 0.0, 6.0: np.log10(4 / 9)}[target_norm] - (off if target_norm == 1 else 0)
        fall = {1: 0.0, 10: 0.5 + size(effect, seed), 100: 2.0 + 2 * size(effect, seed)}[depth]
        return eq_8 - (fall if target_norm == 6 else 9 * np.log10(depth))

    def made(**point):
        return {"risk_final": 10.0 ** values(**point), "converged": 1, "loss": 0.0}

    return {"risk": dataset(made, {"protocol": ["finetuning", "single_task"], **GRID})}


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
def test_every_claim_follows_its_effect(effect, verdict):
    checked = aligned_teachers.check(runs(effect), P)
    found = checked["verdict"].to_series().to_dict()
    assert found == dict.fromkeys(("one_layer", "deep", "vanishes"), verdict)
    assert (checked["seeds"] == len(SEEDS)).all()


def test_what_is_missing_is_named():
    risk = runs(1.0)["risk"]
    for keep, said in (
        (risk["depth"] > 1, "one layer and of two larger depths"),
        (risk["depth"] < 100, "one layer and of two larger depths"),
        (risk["protocol"] == "finetuning", "needs protocol single_task"),
    ):
        with pytest.raises(UserError, match=said):
            aligned_teachers.check({"risk": risk.isel(run=keep.values)}, P)
    alike = risk.assign_coords(target_norm=("run", np.full(risk.sizes["run"], 2.0))).isel(run=risk["target_norm"] == 6)
    with pytest.raises(UserError, match="eq 8 is 0 where they agree"):
        aligned_teachers.check({"risk": alike}, P)
