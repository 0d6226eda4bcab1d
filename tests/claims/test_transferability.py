"""Transferability: each transferred run is compared with the scratch run of the same data."""

import numpy as np
import pytest
import xarray as xr

from carryover.analysis.transferability import transferability
from carryover.errors import UserError


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
