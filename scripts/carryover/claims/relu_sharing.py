"""Risk claims of "Feature reuse in multi-task learning and finetuning" about ReLU networks with shared features (B2).

Units that are correlated, but neither shared nor new, are left out.
"""

from dataclasses import dataclass

from carryover.analysis import intervals
from carryover.analysis.runs import Runs
from carryover.claims.feature_reuse import shared
from carryover.config.parameters import parameter

FITTED = {"finetuning_probe": "the linear probe of it", "finetuning_kernel": "its tangent kernel"}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    samples: int = parameter(64, "main-task samples at which protocols are compared", minimum=1)
    overlap: float = parameter(0.5, "share of the main features that are auxiliary ones where some are new",
                               above=0, maximum=1)  # fmt: skip
    fitted: tuple[str, ...] = parameter(tuple(FITTED), "fits of the pretrained features that PT+FT is compared with",
                                        choices=tuple(FITTED))  # fmt: skip


@intervals.claims("Fig. 2a and 4b", "log₁₀ of a ratio of risks")
def check(data, p):
    """Role: `risk` of an overlap experiment. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    runs = Runs("risk", data["risk"]).where(correlation=1.0, samples=p.samples)

    def advantage(protocol, over, overlap):
        return runs.risk(trained=True, protocol=over, overlap=overlap) - runs.risk(protocol=protocol, overlap=overlap)

    at, new = f"at n = {p.samples}", f"when a share of {1 - p.overlap:g} of the features is new"
    return [
        *shared(lambda protocol: advantage(protocol, "single_task", 1.0), at),
        ("multi_task_new", f"MTL beats PT+FT {new}, {at}", advantage("multi_task", "finetuning", p.overlap), 0.0),
        *((f"{fit.removeprefix('finetuning_')}_insufficient", f"PT+FT beats {FITTED[fit]} {new}, {at}",
           advantage("finetuning", fit, p.overlap), 0.0) for fit in p.fitted),
    ]  # fmt: skip
