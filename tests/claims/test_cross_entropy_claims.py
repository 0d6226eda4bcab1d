"""Claims about training longer on cross-entropy follow the trajectories that they are given."""

import numpy as np
import pytest

from toy.made_up_runs import SEEDS, checks_of, dataset

TIMES = np.arange(6.0)
MARGINS = np.array([0.1, 2.0, 4.0, 6.0, 8.0, np.nan])  # the last checkpoint was not reached


def trajectories(effect, alike=1.0):
    """Features that fall with the margin over squared scale by `effect`, or with time alone where not `alike`."""

    def values(seed, initial_scale, **_):
        ratio = MARGINS / initial_scale**2
        rate = 0.01 * (effect + 0.2 * (-1) ** seed)
        features = 50 * 10.0 ** (-rate * (ratio if alike else TIMES))
        curves = {"time": TIMES, "loss_curve": np.log1p(np.exp(-MARGINS)), "effective_features_curve": features}
        return {name: np.where(np.isnan(MARGINS), np.nan, curve) for name, curve in curves.items()}

    told = {"initial_scale": [0.5, 0.7, 1.0], "loss_function": ["cross_entropy"]}
    return dataset(values, told, along="checkpoint")


def checked(**data):
    return checks_of("cross_entropy", data).to_dataframe()


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
def test_every_claim_follows_its_effect(effect, verdict):
    found = checked(diagonal=trajectories(effect), relu=trajectories(effect))
    expected = dict.fromkeys(found.index, verdict)
    # However features change, they are the same at the same margin over squared scale.
    expected |= dict.fromkeys(("diagonal_alike", "relu_alike"), "holds")
    assert found["verdict"].to_dict() == expected
    assert (found["seeds"] == len(SEEDS)).all()


def test_statistics_are_decades_between_the_fit_and_the_end():
    found = checked(diagonal=trajectories(1.0), relu=trajectories(1.0))["statistic"]
    assert found["diagonal_longer"] == pytest.approx(0.01 * (8 - 2))
    assert found["diagonal_smaller"] == pytest.approx(0.01 * (8 / 0.5**2 - 8))
    assert found["diagonal_alike"] == pytest.approx(0.01 * (8 / 0.5**2 - 8) / 2)
