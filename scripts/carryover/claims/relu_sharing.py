"""Risk claims of "Feature reuse in multi-task learning and finetuning" about ReLU networks with shared features, or
correlated ones (B2)."""

from carryover.analysis import intervals
from carryover.analysis.runs import Runs
from carryover.claims.feature_reuse import shared

FITTED = {
    "finetuning_probe": "linear probes of the pretrained network",
    "finetuning_kernel": "the tangent kernel of the pretrained network",
}


@intervals.claims("Fig. 2a and 4b", "log₁₀ of a ratio of risks")
def check(data, p):
    """Role: `risk` of an overlap experiment. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    every = Runs("risk", data["risk"]).where(samples=p.samples)
    runs = every.where(correlation=1.0)

    def advantage(protocol, over, overlap, trained=False):
        """`over` must have been trained to its end, and `protocol` where asked."""
        first = runs.risk(trained=True, protocol=over, overlap=overlap)
        return first - runs.risk(trained, protocol=protocol, overlap=overlap)

    at = f"at n = {p.samples}"
    part = f"When a share of {1 - p.overlap:g} of features is new"
    together = "multi-task networks beat finetuned ones"
    return [
        *shared(lambda protocol: advantage(protocol, "single_task", 1.0), at),
        ("multi_task_new", f"{part}, {together}, {at}", advantage("multi_task", "finetuning", p.overlap), 0.0),
        *((f"multi_task_{name}", f"When {share} features are new, {together}, {at}",
           advantage("multi_task", "finetuning", overlap, trained=True), 0.0)
          for name, share, overlap in (("none_new", "no", 1.0), ("all_new", "all", 0.0))),
        *((f"{fit.removeprefix('finetuning_')}_insufficient", f"{part}, finetuned networks beat {FITTED[fit]}, {at}",
           advantage("finetuning", fit, p.overlap), 0.0) for fit in p.fitted),
        *_correlated(every, at),
    ]  # fmt: skip


def _correlated(runs, at):
    """Where all units are similar to auxiliary ones, if there are such runs."""
    for cosine in (value for value in runs.options("correlation") if 0 < value < 1):
        similar = runs.where(correlation=cosine, overlap=1.0)
        scratch, tuned = (similar.risk(name == "single_task", protocol=name) for name in ("single_task", "finetuning"))
        statement = (
            f"On units at cosine {cosine:g} to the auxiliary ones, finetuned networks beat networks trained from "
            f"scratch, {at}"
        )
        yield f"correlated_{cosine:g}", statement, scratch - tuned, 0.0, "App. E.2.2, Fig. 2a"
