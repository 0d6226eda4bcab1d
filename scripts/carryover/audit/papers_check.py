"""Check whether today's code still gives the archived values: a random sample of archived runs is trained again and
compared run by run.

Where training is deterministic, its risk must be the archived one to rounding. Where training enlarges rounding, the
differences must lie within the bands of the experiment in `bands.yaml` beside the archive; an experiment without bands
is not compared.
"""

import argparse
import itertools
import math
from pathlib import Path

import numpy as np

from carryover import archive
from carryover.audit import project, retraining
from carryover.config import files
from carryover.errors import UserError
from carryover.provenance import environment
from carryover.training import devices
from carryover.workflow import startup

BUDGET = 120.0
"""Processor seconds, by the records, that a sample takes by default."""
MOST_SECONDS = 40.0
"""Of one run."""
DRAWS = 20
"""Runs that are drawn in search of one within these."""
RISK_FLOOR, SHARE_FLOOR = 1e-8, 1e-2
"""Added to risks before the logarithm: training to losses of about 1e-8 leaves smaller ones undetermined; and to shares
that are misclassified, of which one test image is about a hundredth."""
DETERMINISTIC_EVALUATIONS = 0.1
"""Bound on the difference of the logarithms of the evaluations of deterministic training, which rounding may end some
steps earlier or later; twice the learning rate changes it by about .69. Of its risk half of the digits must agree."""
LEAST = {"risk": (0.1, 1e-3), "evaluations": (0.35, 0.1)}
"""Smallest bounds (on one network, on the median) where training enlarges rounding: a few networks come to a fork at
which a rounding decides, as units that start small choose their place, and most end where they did."""
MOST = {"risk": math.inf, "evaluations": 0.35}
"""Largest bounds on the median: half of what twice the learning rate does to the evaluations."""
WIDENING = 3.0
"""Bounds are so many times the differences in `bands.yaml`: a sample may meet rarer networks than were measured."""
STANDARD_ERRORS = 5.0
"""By so many of its standard errors a mean difference of log risks may differ from 0."""
FOR_MEDIAN = 5
"""Networks whose median is compared, at least; a sample draws as many where training enlarges rounding."""


def main(argv, root):
    """Check a sample of the archive of a configuration; `root` is the folder of the project. True if all agrees."""
    parser = argparse.ArgumentParser(prog="papers_check.py", description=__doc__, allow_abbrev=False)
    default = ["config/config.yaml", "config/paper.yaml"]
    parser.add_argument("--configfile", nargs="+", default=default, metavar="FILE", help="(default: the papers' scale)")
    parser.add_argument("--seconds", type=float, default=BUDGET, help="of training, about (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="of the sample (default: derived from the commit)")
    arguments = parser.parse_args(argv)
    devices.keep_freed()
    sweep = startup.valid_sweep(project.configuration(arguments.configfile), root)
    if not sweep.config.get("archive"):
        raise UserError(f"{' '.join(arguments.configfile)}: no archive is named, so there is nothing to compare.")
    folder, commit = Path(sweep.config["archive"]), (environment.git_state(root) or {}).get("commit", "0")
    seed = int(commit[:12], 16) if arguments.seed is None else arguments.seed
    bands, superseded = (
        (files.read(file, str(file)) if file.exists() else {}).get(folder.name) or {}
        for file in (folder.parent / "bands.yaml", folder.parent / "superseded.yaml")
    )
    data = _archived(sweep, superseded)
    runs, wrong = _sample(sweep, data, np.random.default_rng(seed), arguments.seconds), []
    print(f"sample of seed {seed}: {len(runs)} trainings, {sum(run.seconds for run in runs):.0f} s by the records")
    for experiment in sorted({run.experiment for run in runs}):
        own = [run for run in runs if run.experiment == experiment]
        line, found = _compared(experiment, data[experiment], own, bands.get(experiment))
        print(line, flush=True)
        wrong += found
    if left_out := sorted(data.keys() - {run.experiment for run in runs}):
        print(f"Not in this sample, since a run takes too long: {', '.join(left_out)}.")
    print("\n".join(wrong) or "All runs agree with the archive.")
    return not wrong


def _archived(sweep, superseded):
    """{experiment: archived dataset} of all that can be compared; prints which it leaves out, and why."""
    data = {}
    for experiment, spec in sweep.typed.experiments.items():
        if (measure := retraining.compared_measure(spec)) is None:
            continue
        why = f"superseded: {superseded[experiment]}" if experiment in superseded else ""
        why = why or archive.mismatch(sweep, experiment, measure)
        if not why:
            found = archive.load(sweep.archive, experiment, measure)
            why = "" if retraining.distinguishable(found) else "its coordinates do not tell its runs apart"
        if why:
            print(f"{experiment:24} not compared: {why}")
        else:
            data[experiment] = found
    if not data and not superseded:
        raise UserError(f"{sweep.archive} has nothing of what the configuration asks for.")
    return data


def _sample(sweep, data, rng, seconds):
    """Runs to train again: experiments take turns in random order, each with its share of what is left of the budget,
    until no run is cheap enough."""
    names, runs, left = rng.permutation(sorted(data)).tolist(), [], seconds
    while True:
        before = len(runs)
        for place, name in enumerate(names):
            share = min(left / (len(names) - place), MOST_SECONDS)
            drawn = _affordable(sweep, name, data[name], rng, share, 1)
            if drawn and drawn[0].chaotic:
                drawn += _affordable(sweep, name, data[name], rng, share, FOR_MEDIAN - 1, chaotic=True)
            runs += drawn
            left -= sum(run.seconds for run in drawn)
        if len(runs) == before:
            return runs


def _affordable(sweep, experiment, data, rng, most, count, chaotic=False):
    """Up to `count` runs that take at most so many seconds each; `chaotic`: whose training enlarges rounding."""
    candidates = (retraining.draw(sweep, experiment, data, rng) for _ in range(DRAWS * count))
    fitting = (run for run in candidates if run.seconds <= most and (run.chaotic or not chaotic))
    return list(itertools.islice(fitting, count))


def _compared(experiment, data, runs, bands):
    """(line on an experiment, sentences on what disagrees) of runs that are trained again."""
    if bands is None and any(run.chaotic for run in runs):
        return f"{experiment:24} not compared: its training enlarges rounding, and no bands of it were measured", []
    checks, samples, count = [], {}, 0
    for run in runs:
        now = retraining.retrain(run)
        then, count = retraining.archived_rows(data, now), count + now.sizes["run"]
        for quantity, values in differences(now, then).items():
            bound, median_bound = bounds(quantity, run.rounding, bands.get(quantity, {}) if run.chaotic else None)
            samples.setdefault((quantity, median_bound), []).append(values)
            # A rounding may end one chaotic training in half of the steps; the median of several tells more.
            if not (run.chaotic and quantity == "evaluations"):
                worst = np.abs(values).argmax()
                network = retraining.spelled(now.isel(run=worst))
                checks.append((f"{quantity} of {network}", abs(float(values[worst])), bound))
    for (quantity, bound), parts in samples.items():
        values = np.concatenate(parts)
        if len(values) >= FOR_MEDIAN:
            checks.append((f"median {quantity}", float(np.median(np.abs(values))), bound))
            if quantity == "risk":
                error = float(values.std(ddof=1)) / math.sqrt(len(values))
                allowed = max(STANDARD_ERRORS * error, LEAST["risk"][1])
                checks.append(("mean risk", abs(float(values.mean())), allowed))
    name, value, bound = max(checks, key=lambda check: check[1] / check[2], default=("nothing", 0.0, 0.0))
    worst = f"{name.partition(' of ')[0]}: {value:.1e}, bound {bound:.1e}"
    wrong = [f"{experiment}, {name}: log differs by {value:.1e}, bound {bound:.1e}."
             for name, value, bound in checks if value > bound]  # fmt: skip
    return f"{experiment:24} {count:4} runs  {worst:50} {'DISAGREES' if wrong else 'agrees'}", wrong


def differences(now, then):
    """{quantity: (runs,) Δ log} of risks and evaluations of two datasets, the one of largest size of each run; infinite
    where one dataset alone has NaN."""
    found = {}
    losses = now["loss_function"].values if "loss_function" in now.coords else "squared"
    floors = np.where(losses == "cross_entropy", SHARE_FLOOR, RISK_FLOOR).reshape(-1, 1)
    for quantity in LEAST:
        names = [name for name in now.data_vars if name.startswith(quantity) and name in then]
        if not names:
            continue
        new, old = (np.concatenate([data[n].values.reshape(data.sizes["run"], -1) for n in names], 1).astype(float)
                    for data in (now, then))  # fmt: skip
        floor = floors if quantity == "risk" else 1.0
        change = np.log(np.maximum(new, 0) + floor) - np.log(np.maximum(old, 0) + floor)
        change = np.nan_to_num(np.where(np.isnan(new) & np.isnan(old), 0.0, change), nan=np.inf)
        found[quantity] = change[np.arange(len(change)), np.abs(change).argmax(axis=1)]
    return found


def bounds(quantity, rounding, band=None):
    """(bound on each network, bound on their median) of the differences of a quantity.

    They are `WIDENING` times the largest difference and the upper quartile of differences that a rounding makes: `band`
    is {largest, quartile}, or empty where the least bounds do. None: training is deterministic, in numbers of this
    relative `rounding`.
    """
    if band is None:
        bound = rounding**0.5 if quantity == "risk" else DETERMINISTIC_EVALUATIONS
        return bound, bound
    single, median = (WIDENING * band.get(name, 0.0) for name in ("largest", "quartile"))
    return max(single, LEAST[quantity][0]), min(max(median, LEAST[quantity][1]), MOST[quantity])
