"""Runs of every seed on tasks of its own: tables in which runs are paired, and what their means over tasks say.

Networks of one seed share what they were pretrained to, and its tasks share classes, so that no two of its runs are
independent; its mean over tasks and another seed's are. Where seeds draw their tasks among all classes of a set of
images, intervals over seeds are about that set; where classes were named, about tasks of these alone.
"""

import numpy as np
import pandas as pd

from carryover.analysis import intervals
from carryover.errors import UserError
from carryover.runs import coordinates


def table(runs, quantity):
    """A variable (run,) of a dataset as a DataFrame, seeds (rows) by numbers of tasks (columns); NaN where there is no
    run. Tasks of the same number are others for another seed.

    Raises UserError where a seed has several runs of a task, naming what they differ in.
    """
    columns = {name: values.values for name, values in coordinates(runs).items()}
    frame = pd.DataFrame({**columns, quantity: runs[quantity].values})
    if frame.duplicated(["seed", "task"]).any():
        differ = [name for name in columns if name not in ("seed", "task") and frame[name].nunique() > 1]
        raise UserError(f"a seed has several runs of a task, which differ in {', '.join(differ) or 'nothing'}.")
    return frame.pivot(index="seed", columns="task", values=quantity)


def seed_means(values):
    """Mean over the tasks of each seed, of a table or of what is computed of some, as a Series; NaN left out."""
    return values.mean(axis=1)


def interval(values):
    """(mean, low, high) of a table by its seeds: their mean, and Student's 95 % interval of it.

    low and high are NaN where fewer than two seeds have values, mean where none has.
    """
    found = intervals.student(seed_means(values), "", 0.0)
    return found["statistic"], found["low"], found["high"]


def usual(runs, name):
    """The value of a coordinate that most runs have: the others are controls."""
    values, counts = np.unique(runs[name].values, return_counts=True)
    return values[counts.argmax()].item()
