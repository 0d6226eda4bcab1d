"""Agreement of our risks with those published for "Feature reuse …": shares of cells within two standard errors.

This tests our reproduction, and which of a network's risks was published.
"""

from functools import partial

from carryover.claims.support import checks, published_risks
from carryover.errors import UserError
from carryover.statistics.intervals import student, wilson

NETWORKS = {"diagonal": "diagonal networks", "relu": "ReLU networks"}
GROUPS = {
    "scratch": ("{} trained from scratch", ("single_task",)),
    "finetuned": ("finetuned {}", ("finetuning",)),
    "multi_task": ("multi-task {}", ("multi_task",)),
    "probes": ("linear probes of {}", ("single_task_probe", "finetuning_probe")),
    "kernels": ("tangent kernels of {}", ("single_task_kernel", "finetuning_kernel")),
}
PAIRED = "share of cells at the smallest less that at the last risk"
FLOOR = 1e-8  # smaller published risks are left out: the stopping loss sets them
AGREE = 0.8  # share of cells that must agree


@checks.group("published risks", "share of cells within two standard errors of the published risk", wilson)
def check(data, p):
    """Roles: `published` (the table), and per published experiment (`overlap`, `nested`, `correlation_magnitude`) our
    risk dataset.

    Statistics are over cells, which share seeds and are taken as independent. UserError if no cell is of both sides.
    """
    cells = published_risks.both(data, p.family, FLOOR)
    networks = NETWORKS[p.family]
    if cells.empty:
        raise UserError(f"no published cell of {networks} is among these runs.")
    near = published_risks.agreeing(cells["z_best"].where(cells["z_best"].notna(), cells["z_final"]))
    trained = cells["z_best"].notna().to_numpy()
    nearer = near[trained].astype(float) - published_risks.agreeing(cells["z_final"][trained])
    yield "all", f"Our {networks} have the risks that were published", near, AGREE
    yield (
        "smallest", f"What was published of {networks} is the smallest risk along training: more of ours "
        "agree with it than of those at the end", nearer, 0.0, None, PAIRED, partial(student, over="cells"),
    )  # fmt: skip
    for name, (words, protocols) in GROUPS.items():
        own = near[cells["protocol"].isin(protocols)]
        if len(own):
            yield name, f"Our {words.format(networks)} have the risks that were published", own, AGREE
