"""What decides how well finetuning between linear teachers goes: covariance, depth, scale, frozen layers ("Finetuning
with linear teachers", sections 4 and 5)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from carryover.agreement import of_converged
from carryover.claims import _interval
from carryover.claims._runs import Runs
from carryover.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    near: float = parameter(1e-3, "largest relative distance of trained networks from the exact limit", above=0)
    same: float = parameter(0.05, "decades of risk that count as no difference", above=0)
    flat: float = parameter(0.1, "decades of risk that count as none over numbers of samples", above=0)


def check(data, p):
    """Roles: `alignment` of differences in leading directions and in others, `stretch` and its `coefficients`, of
    stretched sources over depths, `scale` over norms of source and target, `frozen` of two layers. Statistics are means
    over seeds, of risks in decades."""
    solved = (Runs(role, data[role]).where(solver="exact") for role in ("alignment", "stretch", "scale"))
    alignment, stretch, scale = solved
    frozen = Runs("frozen", data["frozen"])
    few, many = alignment.extremes("samples")
    shallow, deep = stretch.extremes("depth")
    own, stretched = stretch.extremes("stretch")
    layers, most = scale.extremes("depth")[1], scale.extremes("samples")[1]
    one, large = scale.extremes("target_norm")
    least, enough = frozen.extremes("samples")
    worst = of_converged(data["coefficients"], data["stretch"]).groupby("seed")["distance"].max()
    return _interval.table(
        [
            ("few", f"A difference in leading directions costs more than one in others at n = {few:g}",
             _leading_over(alignment, few), 0.0),
            ("many", f"It costs less at n = {many:g}", -_leading_over(alignment, many), 0.0),
            ("depth_helps", f"At {stretched:g} times the source {deep:g} layers have less risk than {shallow:g}",
             _gains(stretch, shallow, deep, stretched).min(axis=1), 0.0),
            ("depth_alike", f"At the source's own scale their risks differ by less than {p.same:g} decades",
             p.same - _gains(stretch, shallow, deep, own).abs().max(axis=1), 0.0),
            ("target_costs", f"With {layers:g} layers, n = {most:g}, a scaled target costs more than a scaled source",
             _scaled(scale, layers, most, large, one) - _scaled(scale, layers, most, one, large), 0.0),
            ("frozen_flat", f"With a frozen layer risks at n = {least:g} and {enough:g} are within {p.flat:g} decades",
             _within(_frozen(frozen, "exact", enough) - _frozen(frozen, "exact", least), p.flat), 0.0),
            ("finetuned_better", "Finetuned networks have less risk than those from scratch at any n below d",
             _over_scratch(frozen), 0.0),
            ("larger_cures", f"Larger weights before pretraining lower the risk of a frozen network at n = {enough:g}",
             _frozen(frozen, "exact", enough) - _frozen(frozen, "descent", enough), 0.0),
            ("limit", f"Networks that have converged end within {p.near:g} of the fixed point of eq 5",
             np.log10(p.near / worst.clip(lower=1e-12)), 0.0),
        ]
    )  # fmt: skip


def _within(differences, near):
    """`near` less the distance of their mean from 0, as a mean over seeds."""
    return near - np.sign(differences.mean()) * differences


def _leading_over(runs, samples):
    leading, trailing = (runs.risk(samples=samples, relation=relation) for relation in ("leading", "trailing"))
    return leading - trailing


def _gains(runs, shallow, deep, stretch):
    """Gain of depth by seed (rows), number of samples and rest."""
    runs = runs.where(stretch=stretch)
    at = [{"samples": n, "deviation": rest} for n in runs.options("samples") for rest in runs.options("deviation")]
    return pd.concat([runs.risk(depth=shallow, **one) - runs.risk(depth=deep, **one) for one in at], axis=1)


def _scaled(runs, depth, samples, target, source):
    return runs.risk(depth=depth, samples=samples, target_norm=target, source_norm=source)


def _frozen(runs, pretrained, samples):
    return runs.risk(protocol="linear_transfer", solver="exact", pretrain_solver=pretrained, samples=samples)


def _over_scratch(runs):
    scratch = runs.where(protocol="single_task", solver="exact")
    tuned = runs.where(protocol="finetuning", solver="descent", pretrain_solver="exact")
    below = [n for n, gamma in zip(*np.unique(runs.data["samples"].values, return_index=True), strict=True)
             if runs.data["gamma"].values[gamma] < 1]  # fmt: skip
    return pd.concat([scratch.risk(samples=n) - tuned.risk(samples=n) for n in below], axis=1).min(axis=1)
