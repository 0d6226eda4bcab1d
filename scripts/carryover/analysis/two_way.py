"""Runs of every seed on every task: their tables, and intervals of means that count seeds and tasks as drawn."""

import numpy as np
import pandas as pd
from scipy import special  # stats would take a second more of every job

from carryover.errors import UserError
from carryover.runs import coordinates


def table(runs, quantity):
    """A variable (run,) of a dataset as a DataFrame, seeds (rows) by tasks (columns); NaN where there is no run.

    Raises UserError where a seed has several runs of a task, naming what they differ in.
    """
    columns = {name: values.values for name, values in coordinates(runs).items()}
    frame = pd.DataFrame({**columns, quantity: runs[quantity].values})
    if frame.duplicated(["seed", "task"]).any():
        differ = [name for name in columns if name not in ("seed", "task") and frame[name].nunique() > 1]
        raise UserError(f"a seed has several runs of a task, which differ in {', '.join(differ) or 'nothing'}.")
    return frame.pivot(index="seed", columns="task", values=quantity)


def interval(values):
    """Mean of a table (seeds, tasks), NaN left out, and its 95 % interval: the widest that the `errors` ask for.

    Returns (mean, low, high); low and high are NaN where fewer than two values are known, mean where none is.
    """
    mean, by = errors(values)
    half = max((special.stdtrit(freedom, 0.975) * error for error, freedom in by.values()), default=np.nan)
    return mean, mean - half, mean + half


def estimate(values, statement, bound):
    """Mean over seeds and tasks with its interval and p-value, the spread of seeds on these tasks, and that of tasks
    over these seeds: the columns of a claim whose values are a table (seeds, tasks)."""
    known = np.isfinite(np.asarray(values, dtype=float))
    mean, low, high = interval(values)
    by = errors(values)[1]
    spread = {name: error * np.sqrt(freedom + 1) for name, (error, freedom) in by.items()}
    drawn = " and ".join(name for name in ("seeds", "tasks") if name in by)
    return {
        "statistic": mean, "low": low, "high": high, "p_value": p_value(values, bound),
        "deviation": spread.get("seeds", np.nan), "interval": f"Student's t over {drawn or 'seeds'}",
        "seeds": known.any(axis=1).sum(), "tasks": known.any(axis=0).sum(),
        "task_deviation": spread.get("tasks", np.nan),
    }  # fmt: skip


def p_value(values, bound):
    """Two-sided p-value of the mean of a table (seeds, tasks) at a bound: the largest of those by the `errors`.

    It is below 0.05 where the bound lies outside the `interval`, and NaN where fewer than two values are known.
    """
    mean, by = errors(values)
    distance = abs(mean - bound)
    return max((2 * special.stdtr(freedom, -distance / error) if error else float(distance == 0)
                for error, freedom in by.values()), default=np.nan)  # fmt: skip


def errors(values):
    """Mean of a table and its standard errors: (mean, {"seeds" | "tasks" | "both": (error, degrees of freedom)}).

    Runs of one seed share initial or pretrained networks, and runs of one task share their classes, so that neither are
    independent. The errors over `seeds` and over `tasks` count each as one draw: with no value missing they are those
    of the seeds' means and of the tasks' means, else the cluster-robust ones. Each leaves out what the other may vary
    by, and the largest t-test of the two decides too often where there are many of both. That by `both` adds their
    squares, with Satterthwaite's degrees of freedom (min F' of H. Clark, "The language-as-fixed-effect fallacy", 1973),
    and alone decides a little too often where there are three. The least sure of all three keeps its level.

    With one task there is an error over seeds alone, about that task; with one seed over tasks.

    Args: values, (seeds, tasks), NaN left out.
    """
    values = np.asarray(values, dtype=float)
    known = np.isfinite(values)
    if not known.any():
        return np.nan, {}
    # A sum of equal numbers is rounded, and would differ from them by that alone.
    mean = values[known].mean() if np.ptp(values[known]) else values[known][0]
    rest, by = np.where(known, values - mean, 0.0), {}
    for name, others in (("seeds", 1), ("tasks", 0)):
        count = known.any(axis=others).sum()
        if count > 1:
            squares = (rest.sum(axis=others) ** 2).sum()
            by[name] = np.sqrt(squares * count / (count - 1)) / known.sum(), count - 1
    if len(by) == 2 and any(error for error, _ in by.values()):
        parts = [(error**2, freedom) for error, freedom in by.values()]
        total = sum(square for square, _ in parts)
        by["both"] = np.sqrt(total), total**2 / sum(square**2 / freedom for square, freedom in parts)
    return mean, by


def usual(runs, name):
    """The value of a coordinate that most runs have: the others are controls."""
    values, counts = np.unique(runs[name].values, return_counts=True)
    return values[counts.argmax()].item()
