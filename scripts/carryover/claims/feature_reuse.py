"""Risk claims of "Feature reuse in multi-task learning and finetuning" about diagonal networks."""

from dataclasses import dataclass

import numpy as np

from carryover.claims import _interval
from carryover.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    samples: int = parameter(32, "main-task samples at which protocols are compared", minimum=1)


def check(data, p):
    """Role: `risk` of the overlap experiment. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    runs = data["risk"].to_dataframe()
    runs = runs[runs["samples"] == p.samples]
    risk = runs.pivot_table(index="seed", columns=["overlap", "protocol"], values="risk_final")
    most = runs["overlap"].max()

    def advantage(protocol, overlap, over="single_task"):
        return np.log10(risk[overlap, over] / risk[overlap, protocol])

    at = f"at n = {p.samples}"
    return _interval.table(
        [
            ("finetuning_shared", f"PT+FT beats STL when all features are shared, {at}",
             advantage("finetuning", most), 0.0),
            ("multi_task_shared", f"MTL beats STL when all features are shared, {at}",
             advantage("multi_task", most), 0.0),
            ("probe_insufficient", f"PT+FT beats a linear probe of it when half of the features are new, {at}",
             advantage("finetuning", 0.5, over="finetuning_probe"), 0.0),
        ]
    )  # fmt: skip
