"""The published runs, drawn again from the authors' seeds, and their published risks, run by run (E10).

Each check takes {role: dataset over `run`, or the published table, a data frame} and returns {name: `Check`}.
"""

from functools import partial

import numpy as np

from carryover.analysis.replay import NEAR, compare_rounding, match_published
from carryover.claims.support.checks import Check, checks
from carryover.config import plugins
from carryover.statistics import intervals


@plugins.check()
def replay(data):
    """Roles: `published` (the table), and `risk` of runs of the family published, by any names.

    Statistics are over runs, those of networks from one pretraining as if they were independent.
    """
    rows = match_published(data)
    near = rows["difference"].abs() <= NEAR
    values = {name: own.to_numpy() for name, own in near.groupby(rows["group"])}
    for name, own in rows[rows["setup"] == "multi_task"].groupby("group"):
        # log₁₀ of our risk over the published one.
        decades = np.log10(1 + own["difference"].to_numpy())
        values[f"{name}_alike"] = Check(decades, partial(intervals.student, over="runs"))
    return checks(values, partial(intervals.wilson, over="runs"))


@plugins.check()
def replay_rounding(data):
    """Roles: `published` (the table), risks of replayed runs, by any names, and of repetitions, whose names start
    with `rounded`.

    Where rounding alone parts the replay from the published run, a repetition is as far from the replay as this is. The
    shares are averaged over seeds, since the runs of a seed start from one pretrained network; of one seed there is no
    interval, and so no check.
    """
    rows, values = compare_rounding(data), {}
    # `difference`: replay from publication; `own`: repetition from replay. `nearer` is 1 where only the repetition is
    # far, −1 where only the publication is: a mean near 0 says that both are equally often far.
    rows["missed"] = rows["difference"].abs() > NEAR
    rows["nearer"] = (rows["own"] > NEAR).astype(int) - rows["missed"]
    for group, own in rows.groupby("group"):
        facts = {"setup": group.removeprefix("relu_").replace("multi_task", "multi-task").replace("_", ", ")}
        by_seed = own.groupby("seed")["nearer"].mean()
        if len(by_seed) > 1:
            values[f"{group}_repeated"] = Check(by_seed, facts=facts)
        missed = own[own["missed"]]
        if len(missed):
            within = (missed["difference"].abs() <= missed["band"]).to_numpy()
            values[f"{group}_missed"] = Check(within, partial(intervals.wilson, over="runs"), facts)
    return values
