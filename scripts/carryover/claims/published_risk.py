"""Agreement of our risks with those that were published for "Feature reuse …": shares of cells within two standard
errors. What is tested is our reproduction, and which of a network's risks was published."""

from functools import partial

import numpy as np
from scipy import special

from carryover.analysis import intervals, published_risks
from carryover.errors import UserError

NETWORKS = {"diagonal": "diagonal networks", "relu": "ReLU networks"}
GROUPS = {
    "scratch": ("{} trained from scratch", ("single_task",)),
    "finetuned": ("finetuned {}", ("finetuning",)),
    "multi_task": ("multi-task {}", ("multi_task",)),
    "probes": ("linear probes of {}", ("single_task_probe", "finetuning_probe")),
    "kernels": ("tangent kernels of {}", ("single_task_kernel", "finetuning_kernel")),
}
PAIRED = "share of cells at the smallest less that at the last risk"


def share(values, statement, bound):
    """Share of cells (n,) that are true, with Wilson's 95 % interval and the two-sided p-value of the score test.

    Unlike Student's, the interval stays between 0 and 1. Cells are taken as independent. Returns the columns of
    `intervals.MEANINGS` that hang on the values.
    """
    n, found = len(values), float(np.mean(values))
    z = -special.ndtri(intervals.LEVEL / 2)
    middle = (found + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(found * (1 - found) / n + z**2 / (4 * n**2))
    p_value = 2 * special.ndtr(-abs(found - bound) / np.sqrt(bound * (1 - bound) / n))
    ends = {"statistic": found, "low": middle - half, "high": middle + half, "p_value": p_value}
    return {**ends, "interval": "Wilson's over cells, as if independent", "deviation": np.nan, "seeds": n}


@intervals.claims("published risks", "share of cells within two standard errors of the published risk", share)
def check(data, p):
    """Roles: `published` (the table), and per published experiment (`overlap`, `nested`, `correlation_magnitude`) our
    risk dataset.

    Statistics are over cells, which share seeds and are taken as independent. UserError where no cell is of both sides.
    """
    cells = published_risks.beside(data, p.family, p.floor)
    if cells.empty:
        raise UserError(f"no published cell of {NETWORKS[p.family]} is among these runs.")
    smallest = cells["z_best"].where(cells["z_best"].notna(), cells["z_final"])
    near = cells.assign(near=published_risks.agreeing(smallest))
    trained = near[cells["z_best"].notna()]
    nearer = trained["near"].astype(float) - published_risks.agreeing(trained["z_final"])
    claims = [
        ("all", f"Our {NETWORKS[p.family]} have the risks that were published", near["near"], p.agree),
        ("smallest", f"What was published of {NETWORKS[p.family]} is the smallest risk along training: more of ours "
         "agree with it than of those at the end", nearer, 0.0, None, PAIRED,
         partial(intervals.student, over="cells")),
    ]  # fmt: skip
    for name, (words, protocols) in GROUPS.items():
        own = near["near"][near["protocol"].isin(protocols)]
        if len(own):
            claims.append(
                (name, f"Our {words.format(NETWORKS[p.family])} have the risks that were published", own, p.agree)
            )
    return claims
