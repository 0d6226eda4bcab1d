"""What theories predict of the gain of transferred runs over runs from scratch.

A prediction is log₁₀ of a ratio of risks, or of penalties or bounds that stand for them; it is positive where
pretraining is to help. All functions take a data frame of transferred runs, with columns for their coordinates, and
return an array (rows,), NaN where nothing is predicted.
"""

import numpy as np
import pandas as pd
import xarray as xr

from carryover.claims.support.transferability import at, normalised, paired
from carryover.runs import chosen, coordinates, where
from carryover.statistics import power_law
from carryover.streams import generator
from carryover.theory import discrepancy, transfer

SOURCE = np.array([1.0, 0.0])  # of linear tasks, in the plane of source and target
FITTED = 64  # fewest samples that the power law is fitted to
POINTS = 150  # of each task, between which distances are found


def ratio(frame, source, protocol, quantity, against=""):
    """log₁₀ of a quantity of the dataset `source` from scratch over that of the transferred run, or, with `against`,
    of that variable over the quantity of the transferred run itself."""
    source = source[[name for name in (quantity, against) if name]]
    if protocol not in source["protocol"].values:
        return np.full(len(frame), np.nan)
    if against:
        table = where(source, protocol=protocol).to_dataframe()
        table["scratch"] = table[against]
    else:
        table, _ = paired(source, protocol, quantity)
    return _looked_up(frame, source, table.assign(ratio=np.log10(table["scratch"] / table[quantity])), "ratio")


def value(frame, source, protocol, quantity):
    """A quantity of the transferred runs themselves, from the dataset `source`."""
    if protocol not in source["protocol"].values:
        return np.full(len(frame), np.nan)
    return _looked_up(frame, source, where(source[[quantity]], protocol=protocol).to_dataframe(), quantity)


def _looked_up(frame, source, table, column):
    """A column of a table of runs at the rows' coordinates."""
    keys = [name for name in sorted(coordinates(source)) if name in frame]
    return frame[keys].merge(table[[*keys, column]], on=keys, how="left")[column].to_numpy()


def curve(frame, source, protocol, floor):
    """From a theory curve with the variable `single_task` and one named after the protocol.

    Risks below the floor count as the floor.
    """
    if protocol not in source:
        return np.full(len(frame), np.nan)
    places = {name: xr.DataArray(frame[name].to_numpy(), dims="row") for name in source.dims}
    scratch, transferred = (np.maximum(at(source[name], **places).values, floor) for name in ("single_task", protocol))
    return np.log10(scratch / transferred)


def linear_transfer(frame, protocol, floor):
    """Of deep linear networks: "Features are fate", eqs 8 and 10, and eq 14 with the norm factor of eq 5 of "Finetuning
    with linear teachers". Risks below the floor count as the floor; 0 where both are infinite."""
    gamma, noise, norm = (frame[name].to_numpy(float) for name in ("gamma", "noise", "target_norm"))
    theta, depth = np.pi * frame["angle"].to_numpy(float), frame["depth"].to_numpy()
    scratch = transfer.scratch_risk(gamma, noise, target_norm=norm)
    if protocol == "finetuning":
        with np.errstate(invalid="ignore"):  # ∞ − ∞ at γ = 1
            transferred = transfer.finetune_risk(gamma, theta, noise, depth, target_norm=norm)
    else:
        transferred = norm**2 * transfer.linear_transfer_risk(theta, noise / norm, frame["samples"].to_numpy())
    scratch, transferred = (np.log10(np.maximum(risk, floor)) for risk in (scratch, transferred))
    with np.errstate(invalid="ignore"):
        return np.where(scratch == transferred, 0.0, scratch - transferred)


def of_linear_teachers(frame):
    """{name: (rows,)} of deep linear networks, whose one feature is the source's direction.

    `divergence` and `wasserstein`: distances of the target's data from the source's; `target_alignment`: cos² of the
    angle of feature and target; `probe_r_squared`: what a readout of the other samples explains of a sample's label
    ("Features are fate", eq 10).
    """
    theta, norm, noise = (
        values.to_numpy(float) for values in (np.pi * frame["angle"], frame["target_norm"], frame["noise"])
    )
    missed = transfer.linear_transfer_risk(theta, noise / norm, np.maximum(frame["samples"].to_numpy() - 1, 1))
    distances = {}
    for angle, size, sigma in set(zip(theta, norm, noise, strict=True)):
        target = size * np.array([np.cos(angle), np.sin(angle)])
        rng = generator("atlas", "", 0, "inputs")  # the same draws for all tasks, so that their order is that of these
        distances[angle, size, sigma] = (
            discrepancy.kl_divergence(SOURCE, target, sigma),
            discrepancy.wasserstein1(SOURCE, target, sigma, POINTS, rng),
        )
    found = np.array([distances[key] for key in zip(theta, norm, noise, strict=True)]).reshape(-1, 2)
    return {
        "divergence": found[:, 0],
        "wasserstein": found[:, 1],
        "target_alignment": np.cos(theta) ** 2,
        "probe_r_squared": 1 - (norm**2 * missed + noise**2) / (norm**2 + noise**2),
    }


def power_law_against_floor(frame, outside, risk):
    """Of mean-field networks: the power law of the risk from scratch, fitted over all seeds, over the least risk of the
    pretrained features ("Features are fate", eq 18 without its second term)."""
    scratch = normalised(risk.isel(run=chosen(risk, protocol="single_task")))[["risk_final"]].to_dataframe()
    keys = ["seed", "teacher_scale", "ablated"]
    least = outside[["least_risk"]].to_dataframe().groupby(keys)["least_risk"].mean()
    least = least.reindex(pd.MultiIndex.from_frame(frame[keys])).to_numpy()
    expected = np.full(len(frame), np.nan)
    for scale, runs in scratch.groupby("teacher_scale"):
        law = power_law.fit(runs.pivot_table("risk_final", "seed", "samples"), FITTED)
        rows = frame["teacher_scale"].to_numpy() == scale
        expected[rows] = law(frame["samples"].to_numpy()[rows])
    return np.log10(expected / least)
