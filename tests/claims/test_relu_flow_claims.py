"""Claims about descent on ReLU networks follow how far its risks lie from those of the flow."""

import numpy as np
import pytest

from carryover.claims.agreement import DESCENT, descent_and_flow
from toy.made_up_runs import SEEDS, checks_of, dataset

GRID = {"protocol": ["single_task", "finetuning"], "samples": [16, 32]}


def runs(difference):
    """By flow, and by descent with two rates, whose risk is off by `difference(seed, rate)`."""

    def values(seed, protocol, samples, solver, rate):
        off = difference(seed, rate) * (-1) ** samples if solver == "descent" else 0.0
        risk = samples**-0.5 * (2 if protocol == "finetuning" else 1)
        return {
            "risk_final": risk * (1 + off),
            "evaluations": 100 if solver == "flow" else 100 / rate,
            "learning_rate": rate,
        }

    flow, descent = {"solver": ["flow"], "rate": [np.nan]}, {"solver": ["descent"], "rate": [0.4, 0.1]}
    return dataset(values, GRID | flow, GRID | descent).drop_vars("rate")


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
def test_both_claims_follow_their_effect(effect, verdict):
    def difference(seed, rate):
        e = effect + 0.5 * (-1) ** seed
        return DESCENT * 10 ** (-e if rate == 0.1 else 0)

    found = checks_of("relu_flow", {"risk": runs(difference)})
    assert found["verdict"].to_series().to_dict() == {"descent_follows": verdict, "steps_shrink": verdict}
    assert (found["seeds"] == len(SEEDS)).all()


def test_differences_are_those_to_the_flow_of_the_same_run():
    table = descent_and_flow(runs(lambda seed, rate: rate * (1 + seed)))
    assert len(table) == 8 * len(SEEDS)
    np.testing.assert_allclose(table["difference"], table["learning_rate"] * (1 + table["seed"]))
    assert (table["evaluations_other"] == 100).all()
