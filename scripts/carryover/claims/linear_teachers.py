"""What decides how well finetuning between linear teachers goes: covariance, depth, scale, frozen layers ("Finetuning
with linear teachers", sections 4 and 5)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from carryover.analysis import intervals
from carryover.analysis.agreement import of_converged
from carryover.analysis.runs import Runs
from carryover.config.parameters import parameter

DEPTH, FROZEN = "theorem 5.3, Fig. 2a", "theorem 5.5, Fig. 3"


@dataclass(frozen=True, kw_only=True)
class Parameters:
    near: float = parameter(1e-3, "largest relative distance of trained networks from the exact limit", above=0)
    same: float = parameter(0.05, "decades of risk that count as no difference", above=0)
    flat: float = parameter(0.1, "decades of risk that count as none over numbers of samples", above=0)


@intervals.claims("4.2, Fig. 1", "log₁₀ of a ratio of risks")
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
    layers, (fewest, most) = scale.extremes("depth")[1], scale.extremes("samples")
    one, large = scale.extremes("target_norm")
    least, enough = frozen.extremes("samples")
    worst = of_converged(data["coefficients"], data["stretch"]).groupby("seed")["distance"].max()
    return [
        ("few", f"A difference in leading directions costs more than one in others at n = {few:g}",
         _leading_over(alignment, few), 0.0),
        ("many", f"A difference in leading directions costs less than one in others at n = {many:g}",
         -_leading_over(alignment, many), 0.0),
        ("depth_helps", f"At {stretched:g} times the source {deep:g} layers have less risk than {shallow:g}",
         _gains(stretch, shallow, deep, stretched).min(axis=1), 0.0, DEPTH),
        ("depth_alike", f"At the source's own scale the risks of {deep:g} and {shallow:g} layers differ by less "
         f"than {p.same:g} decades",
         -_gains(stretch, shallow, deep, own).abs().max(axis=1), -p.same, DEPTH,
         "largest log₁₀ of a ratio of risks, with the sign changed"),
        ("depth_grows", f"The gain of {deep:g} over {shallow:g} layers, as a ratio of risks, grows with the "
         "stretch of the source (rank correlation above 0.9, of the mean over samples and rests)",
         _growth(stretch, shallow, deep), 0.9, DEPTH, "rank correlation"),
        ("source_cheap", f"With {layers:g} layers, n = {most:g}, a scaled source changes the risk by less than "
         f"{p.flat:g} decades", intervals.within(
             _scaled(scale, layers, most, one, large) - _scaled(scale, layers, most, one, one), p.flat),
         0.0, "5.3, Fig. 2b", "allowed less actual log₁₀ of a ratio of risks"),
        *((f"target_costs{name}", f"With {layers:g} layers, n = {n:g}, a scaled target costs more than a scaled "
           "source",
           _scaled(scale, layers, n, large, one) - _scaled(scale, layers, n, one, large), 0.0, "5.3, Fig. 2b")
          for name, n in (("", most), ("_few", fewest))),
        ("frozen_flat", f"With a frozen layer risks at n = {least:g} and {enough:g} are within {p.flat:g} decades",
         intervals.within(_frozen(frozen, "exact", enough) - _frozen(frozen, "exact", least), p.flat), 0.0, FROZEN,
         "allowed less actual log₁₀ of a ratio of risks"),
        ("finetuned_better", "Finetuned networks have less risk than those from scratch at any n below d",
         _over_scratch(frozen), 0.0, FROZEN),
        ("larger_cures", f"Larger weights before pretraining lower the risk of a frozen network at n = {enough:g}",
         _frozen(frozen, "exact", enough) - _frozen(frozen, "descent", enough), 0.0, FROZEN),
        ("limit", f"Networks that have converged end within {p.near:g} of the fixed point of eq 5",
         np.log10(p.near / worst.clip(lower=1e-12)), 0.0, "theorem 5.2, eq 5",
         "log₁₀ of the allowed over the largest relative distance"),
    ]  # fmt: skip


def _leading_over(runs, samples):
    leading, trailing = (runs.risk(samples=samples, relation=relation) for relation in ("leading", "trailing"))
    return leading - trailing


def _gains(runs, shallow, deep, stretch):
    """Gain of depth by seed (rows), number of samples and rest."""
    runs = runs.where(stretch=stretch)
    at = [{"samples": n, "deviation": rest} for n in runs.options("samples") for rest in runs.options("deviation")]
    return pd.concat([runs.risk(depth=shallow, **one) - runs.risk(depth=deep, **one) for one in at], axis=1)


def _growth(runs, shallow, deep):
    """Spearman's correlation of the mean gain of depth with the stretch, by seed."""
    stretches = runs.options("stretch")
    gains = pd.DataFrame({stretch: _gains(runs, shallow, deep, stretch).mean(axis=1) for stretch in stretches})
    return gains.T.corrwith(pd.Series(stretches, index=stretches), method="spearman")


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
