"""Transferability: each transferred run is compared with the scratch run of the same data; where gains end; and which
anchor is chosen by others."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from carryover.claims.mean_field_transfer import boundary, gains, leave_one_out_choice
from carryover.claims.support.transferability import predicted, transferability, with_decay
from carryover.errors import UserError
from carryover.figures.linear_transfer import averages, best, shares_in_words
from toy import made_up_runs


def dataset(rows, **more):
    """Runs from tuples (protocol, seed, angle, risk), with further coordinates."""
    protocol, seed, angle, risk = (np.array(column) for column in zip(*rows, strict=True))
    coordinates = {"protocol": protocol, "seed": seed, "angle": angle, "solver": np.full(len(rows), "exact"), **more}
    return xr.Dataset({"risk_final": ("run", risk)}, {name: ("run", values) for name, values in coordinates.items()})


ROWS = [
    ("finetuning", 1, 0.5, 4.0), ("single_task", 0, 0.25, 2.0), ("single_task", 1, 0.5, 3.0),
    ("finetuning", 0, 0.25, 0.5), ("single_task", 0, 0.5, 7.0), ("single_task", 1, 0.25, 1.0),
]  # fmt: skip


def test_a_run_is_compared_with_scratch_training_on_its_own_data():
    found = transferability(dataset(ROWS), "finetuning").set_index(["seed", "angle"])["transferability"]
    assert found.to_dict() == {(1, 0.5): -1.0, (0, 0.25): 1.5}


def test_coordinates_that_the_transfer_alone_has_are_no_difference_and_any_other_is():
    """No list of a family's coordinates is needed: scratch runs say by NaN or empty text what they do not have."""
    scratch = np.array([protocol == "single_task" for protocol, *_ in ROWS])
    own = {"ablated": np.where(scratch, np.nan, 0.5), "pretrain_solver": np.where(scratch, "", "exact")}
    assert len(transferability(dataset(ROWS, **own), "finetuning")) == 2
    with pytest.raises(UserError, match="no single_task run to compare finetuning with"):
        transferability(dataset(ROWS, temperature=np.where(scratch, 1.0, 2.0)), "finetuning")


def test_missing_and_ambiguous_runs_are_named():
    with pytest.raises(UserError, match="no single_task run to compare finetuning with"):
        transferability(dataset([*ROWS, ("finetuning", 2, 0.5, 1.0)]), "finetuning")
    with pytest.raises(UserError, match="the same angle, seed, solver; they differ in ridge"):
        transferability(dataset([*ROWS, ROWS[1]], ridge=np.arange(7.0)), "finetuning")


def test_averages_have_standard_errors_and_those_within_two_are_counted():
    rows = [("single_task", seed, angle, 1.0) for seed in range(2) for angle in (0.25, 0.5)]
    rows += [("finetuning", seed, 0.25, risk) for seed, risk in enumerate((1.0, 1.02))]  # theory here: (1 - γ)(√2 - 1)
    rows += [("finetuning", seed, 0.5, risk) for seed, risk in enumerate((1.49, 1.51))]  # and here -(1 - γ)
    coordinates = {"gamma": np.full(8, 0.5), "noise": np.zeros(8)}
    table = averages(transferability(dataset(rows, **coordinates), "finetuning"), ("angle", "gamma", "noise"))
    np.testing.assert_allclose(table[["mean", "sem"]], [[-0.01, 0.01], [-0.5, 0.01]])
    np.testing.assert_allclose(predicted("finetuning", table), [0.5 * (np.sqrt(2) - 1), -0.5])
    assert shares_in_words(table, ["finetuning"]).startswith("eq 15: 50%")


def test_shares_are_told_by_block_and_only_where_a_formula_says_something():
    gamma, angle = (grid.ravel() for grid in np.meshgrid([0.1, 0.4, 0.5, 0.9, 1.0, 1.5], [0.1, 0.5]))
    table = pd.DataFrame({"gamma": gamma, "angle": angle, "noise": 0.2, "sem": 0.01})
    off = np.where((gamma == 0.4) & (angle == 0.1), 0.021, 0.019)
    table = table.assign(mean=predicted("finetuning", table) + off)
    found = shares_in_words(table, ["finetuning"]).replace("\N{NO-BREAK SPACE}", " ")
    assert found == "eq 15: 75% at γ < 1/2, 100% at 1/2 ≤ γ < 1"


def test_decay_is_chosen_network_by_network():
    rows = [("single_task", seed, 0.5, risk) for seed in range(2) for risk in (3.0, 1.0, 2.0)]
    data = dataset(rows, weight_decay=np.tile([0.0, 0.1, 1.0], 2))
    data["validation_loss"] = ("run", [1.0, 2.0, 3.0, 3.0, 2.0, 1.0])
    assert with_decay(data)["risk_final"].values.tolist() == [3.0, 3.0]
    assert with_decay(data, "risk_final")["risk_final"].values.tolist() == [1.0, 1.0]
    assert with_decay(data, "validation_loss")["risk_final"].values.tolist() == [3.0, 2.0]


def test_the_best_penalty_has_the_smallest_mean_and_an_interval():
    rng = np.random.default_rng(0)
    penalties = np.array([0.1, 0.2, 0.3, 0.4])
    risk = (penalties - 0.2 - 0.05 * rng.standard_normal((30, 1))) ** 2
    assert best(pd.DataFrame(risk, columns=penalties), rng) == (0.2, 0.2, 0.2)


SAMPLES = [8, 16, 32, 64, 128, 256]


def gain(values):
    return pd.Series(values, index=SAMPLES)


def test_the_boundary_is_where_gains_change_their_sign():
    log_n = np.log2(SAMPLES)
    assert boundary(gain(5.5 - log_n)) == pytest.approx(2**5.5)
    assert boundary(gain([1, 1, 1, -3, -3, -3])) == pytest.approx(32 * 2**0.25)
    assert boundary(gain([1, 1, 0, -1, -1, -1])) == pytest.approx(32)


def runs():
    """Linear transfer by two readouts; a scratch risk of 5 times a variance that differs by seed."""

    def values(seed, protocol, readout, max_time, **_):
        risk = 5.0 if protocol == "single_task" else {"zero": 5.0 - max_time, "least_squares": 3.0}[readout]
        return {"risk_final": (2.0 + seed) * risk, "target_variance": 2.0 + seed}

    common = {"samples": SAMPLES, "solver": ["exact"]}
    return made_up_runs.dataset(
        values,
        {"protocol": ["linear_transfer"], "readout": ["zero"], "max_time": [1.0, 4.0], **common},
        {"protocol": ["linear_transfer"], "readout": ["least_squares"], "max_time": [np.nan], **common},
        {"protocol": ["single_task"], "readout": [""], "max_time": [np.nan], **common},
    )


def test_gains_are_those_of_one_readout_after_its_longest_flow():
    for readout, expected in (("zero", 4.0), ("least_squares", 2.0)):
        found = gains(runs(), readout)
        assert len(found) == len(made_up_runs.SEEDS) * len(SAMPLES)
        np.testing.assert_allclose(found["transferability"], expected)


def test_every_seed_has_the_anchor_that_is_best_for_the_others():
    gained = {0.1: [9, 1, 1], 0.2: [2, 2, 2]}
    columns = pd.MultiIndex.from_product([gained, [1, 2]], names=["anchor", "samples"])
    found = leave_one_out_choice(pd.DataFrame(np.repeat([*gained.values()], 2, axis=0).T, columns=columns))
    np.testing.assert_array_equal(found, [[2, 2], [1, 1], [1, 1]])
