"""Where gains end, and which anchor is chosen by others."""

import numpy as np
import pandas as pd
import pytest

from carryover.claims.linear_transfer import sign_changes
from carryover.claims.support.transferability import boundary, by_anchor, gains, leave_one_out_choice
from toy.made_up_runs import SEEDS, dataset

SAMPLES = [8, 16, 32, 64, 128, 256]


def gain(values):
    return pd.Series(values, index=SAMPLES)


def test_the_boundary_is_where_gains_change_their_sign():
    log_n = np.log2(SAMPLES)
    assert boundary(gain(5.5 - log_n)) == pytest.approx(2**5.5)
    assert boundary(gain(5.5 - log_n)[::-1]) == pytest.approx(2**5.5)
    assert boundary(gain([1, 1, 1, -3, -3, -3])) == pytest.approx(32 * 2**0.25)
    assert boundary(gain([1, 1, 0, -1, -1, -1])) == pytest.approx(32)


def test_signs_change_first_downwards_and_last_upwards():
    def found(values):
        return sign_changes(pd.Series(values, index=[0.5, 0.1, 0.2, 0.4]).sort_index())

    assert sign_changes(pd.Series([1.0, -3.0, -1.0, 3.0], [0.0, 1.0, 2.0, 4.0])) == {"falling": 0.25, "rising": 2.5}
    assert found([3.0, 1.0, -1.0, -1.0]) == pytest.approx({"falling": 0.15, "rising": 0.425})
    wavy = sign_changes(pd.Series([1.0, -1.0, 1.0, -1.0, 1.0], np.arange(5.0)))
    assert wavy == {"falling": 0.5, "rising": 3.5}
    for none in (np.ones(4), -np.ones(4)):
        assert np.isnan(list(found(none).values())).all()


def runs():
    """Linear transfer by two readouts; a scratch risk of 5 times a variance that differs by seed."""

    def values(seed, protocol, readout, max_time, **_):
        risk = 5.0 if protocol == "single_task" else {"zero": 5.0 - max_time, "least_squares": 3.0}[readout]
        return {"risk_final": (2.0 + seed) * risk, "target_variance": 2.0 + seed}

    common = {"samples": SAMPLES, "solver": ["exact"]}
    return dataset(
        values,
        {"protocol": ["linear_transfer"], "readout": ["zero"], "max_time": [1.0, 4.0], **common},
        {"protocol": ["linear_transfer"], "readout": ["least_squares"], "max_time": [np.nan], **common},
        {"protocol": ["single_task"], "readout": [""], "max_time": [np.nan], **common},
    )


def test_gains_are_those_of_one_readout_after_its_longest_flow():
    for readout, expected in (("zero", 4.0), ("least_squares", 2.0)):
        found = gains(runs(), readout)
        assert len(found) == len(SEEDS) * len(SAMPLES)
        np.testing.assert_allclose(found["transferability"], expected)


def anchored(**means):
    """Rows of `gains` by anchor, of seeds 0, 1, 2 whose gains are given."""
    rows = [
        {"anchor": float(anchor), "seed": seed, "samples": n, "transferability": value + n}
        for anchor, values in means.items() for seed, value in enumerate(values) for n in (1, 2)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_every_seed_has_the_anchor_that_is_best_for_the_others():
    tables = by_anchor(anchored(**{"0": [0, 0, 0], "0.1": [9, 1, 1], "0.2": [2, 2, 2], "inf": [0, 0, 0]}))
    assert list(tables) == [0.0, 0.1, 0.2, np.inf]
    found = leave_one_out_choice({anchor: tables[anchor] for anchor in (0.1, 0.2)})
    np.testing.assert_array_equal(found, [[3, 4], [2, 3], [2, 3]])
    assert found.columns.tolist() == [1, 2]
