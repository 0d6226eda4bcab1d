"""Agreement of our risks with those published for "Feature reuse …": shares of cells within two standard errors.

This tests our reproduction, and which of a network's risks was published.
"""

from functools import partial

from carryover.claims.support import published_risks
from carryover.claims.support.checks import Check, checks
from carryover.errors import UserError
from carryover.statistics.intervals import student, wilson

GROUPS = {
    "scratch": ("single_task",),
    "finetuned": ("finetuning",),
    "multi_task": ("multi_task",),
    "probes": ("single_task_probe", "finetuning_probe"),
    "kernels": ("single_task_kernel", "finetuning_kernel"),
}
FLOOR = 1e-8  # smaller published risks are left out: the stopping loss sets them


def check(data, p):
    """Roles: `published` (the table), and per published experiment (`overlap`, `nested`, `correlation_magnitude`) our
    risk dataset.

    Statistics are over cells, which share seeds and are taken as independent. UserError if no cell is of both sides.
    """
    cells = published_risks.both(data, p.family, FLOOR)
    if cells.empty:
        raise UserError(f"no published cell of {p.family} networks is among these runs.")
    near = published_risks.agreeing(cells["z_best"].where(cells["z_best"].notna(), cells["z_final"]))
    trained = cells["z_best"].notna().to_numpy()
    nearer = near[trained].astype(float) - published_risks.agreeing(cells["z_final"][trained])
    found = {"all": near, "smallest": Check(nearer, partial(student, over="cells"))}
    for name, protocols in GROUPS.items():
        if (own := cells["protocol"].isin(protocols)).any():
            found[name] = near[own]
    return checks(found, wilson)
