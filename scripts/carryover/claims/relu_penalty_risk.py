"""What the penalty of ReLU units predicts for the risk of finetuning: Fig. 1c of "The implicit penalty" (A3)."""

from dataclasses import dataclass

from carryover.analysis import intervals
from carryover.analysis.runs import Runs
from carryover.config.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    samples: int = parameter(0, "main-task samples at which networks are compared; 0 for the most that there are",
                             minimum=0)  # fmt: skip


@intervals.claims("1.2, Fig. 1c", "log₁₀ of a ratio of risks")
def check(data, p):
    """Role: `risk` over correlation and magnitude. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    every = Runs("risk", data["risk"])
    runs = every.where(samples=p.samples or every.sizes()[-1])
    low, high = runs.extremes("correlation")
    small, large = runs.extremes("magnitude")

    def benefit(correlation, magnitude, trained):
        """log₁₀ of the risk of STL over that of PT+FT; `trained` is the one whose training must be done."""
        over, of = (
            runs.risk(trained == protocol, protocol=protocol, correlation=correlation, magnitude=magnitude)
            for protocol in ("single_task", "finetuning")
        )
        return over - of

    at = f"at n = {runs.only('samples'):g}"
    lost_by_small = benefit(high, small, "single_task") - benefit(low, small, "finetuning")
    lost_by_large = benefit(high, large, "finetuning") - benefit(low, large, "single_task")
    return [
        ("shared", f"PT+FT beats STL at cosine {high:g} even for magnitude {small:g}, {at}",
         benefit(high, small, "single_task"), 0.0),
        *((f"reversal_{m:g}", f"STL beats PT+FT at cosine {low:g} for magnitude {m:g}, {at}",
           -benefit(low, m, "finetuning"), 0.0) for m in runs.options("magnitude") if m < large),
        ("no_reversal", f"PT+FT beats STL at cosine {low:g} for magnitude {large:g}, {at}",
         benefit(low, large, "single_task"), 0.0),
        ("loss_of_benefit", f"From cosine {high:g} to {low:g} PT+FT loses more of its benefit for magnitude "
         f"{small:g} than for {large:g}, {at}", lost_by_small - lost_by_large, 0.0),
    ]  # fmt: skip
