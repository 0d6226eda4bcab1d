"""Check whether today's code still gives the archived values: a random sample of archived runs is trained again and
compared run by run.

Where training is deterministic, its risk must be the archived one to rounding. Where training enlarges rounding, the
differences must lie in the bands of the experiment (`bounds`).
"""

import argparse
import itertools
import math
from pathlib import Path

import numpy as np
import yaml

from carryover import archive
from carryover.audit import project, retraining
from carryover.config import files
from carryover.errors import UserError
from carryover.provenance import environment, writing
from carryover.training import allocation
from carryover.workflow import startup

BUDGET = 120.0
"""Processor seconds, by the records, that a sample takes by default."""
DEAREST = 40.0
"""Processor seconds that a run of such a sample takes at most."""
CHEAP = 1.0
"""Processor seconds of a run up to which every experiment is in the sample, before dearer ones take turns."""
DRAWS = 20
"""Runs that are drawn in search of one within these."""
RERUNS = 6
"""Runs of an experiment that are trained twice for its bands."""
PERTURBATION = 1e-12
"""Relative change of the first weights between them; one rounding where they are trained in single precision."""
RISK_FLOOR, SHARE_FLOOR = 1e-8, 1e-2
"""Added to risks before the logarithm: training to losses of about 1e-8 leaves smaller ones undetermined; and to shares
that are misclassified, of which one test image is about a hundredth."""
EVALUATIONS = 0.1
"""Bound on the difference of the logarithms of the evaluations of deterministic training, which rounding may end some
steps earlier or later; twice the learning rate changes it by about .69. Of its risk half of the digits must agree."""
LEAST = {"risk": (0.1, 1e-3), "evaluations": (0.35, 0.1)}
"""Smallest bounds (on one network, on the median) where training enlarges rounding: a few networks come to a fork at
which a rounding decides, as units that start small choose their place, and most end where they did."""
MOST = {"risk": math.inf, "evaluations": 0.35}
"""Largest bounds on the median: half of what twice the learning rate does to the evaluations."""
WIDENING = 3.0
"""Bounds are so many times the measured differences: a sample may meet rarer networks than the reruns did."""
STANDARD_ERRORS = 5.0
"""By so many of its standard errors a mean difference of log risks may differ from 0."""
FOR_MEDIAN = 5
"""Networks whose median is compared, at least; a sample draws as many where training enlarges rounding."""


def main(argv, root):
    """Check a sample of the archive of a configuration; `root` is the folder of the project. True if all agrees."""
    parser = argparse.ArgumentParser(prog="papers_check.py", description=__doc__, allow_abbrev=False)
    default = ["config/config.yaml", "config/paper.yaml"]
    parser.add_argument("--configfile", nargs="+", default=default, metavar="FILE", help="(default: the papers' scale)")
    parser.add_argument("--fraction", type=float, help="share of the archived runs (default: two minutes of training)")
    parser.add_argument("--seed", type=int, help="of the sample (default: derived from the commit)")
    parser.add_argument("--bands", nargs="*", metavar="EXPERIMENT", help="measure the bands of these, or all, and end")
    arguments = parser.parse_args(argv)
    allocation.keep_freed()
    sweep = startup.valid_sweep(project.configuration(arguments.configfile), root)
    if not sweep.config.get("archive"):
        raise UserError(f"{' '.join(arguments.configfile)}: no archive is named, so there is nothing to compare.")
    folder, commit = Path(sweep.config["archive"]), (environment.git_state(root) or {}).get("commit", "0")
    seed = int(commit[:12], 16) if arguments.seed is None else arguments.seed
    rng = np.random.default_rng(seed)
    superseded = _read(folder.parent / "superseded.yaml").get(folder.name) or {}
    data = _archived(sweep, superseded, arguments.bands)
    place = folder.parent / "bands.yaml"
    if arguments.bands is not None:
        _measure_bands(sweep, data, place, rng)
        return True
    runs = _sample(sweep, data, rng, arguments.fraction)
    print(f"sample of seed {seed}: {len(runs)} trainings, {sum(run.seconds for run in runs):.0f} s by the records")
    bands, wrong = _read(place).get(folder.name) or {}, []
    for experiment in sorted({run.experiment for run in runs}):
        line, found = _compared(sweep, experiment, data, [r for r in runs if r.experiment == experiment], bands)
        print(line, flush=True)
        wrong += found
    if left_out := sorted(data.keys() - {run.experiment for run in runs}):
        print(f"Not in this sample, since a run takes too long: {', '.join(left_out)}.")
    print("\n".join(wrong) or "All runs agree with the archive.")
    return not wrong


def differences(now, then):
    """{quantity: (runs,) Δ log} of risks and evaluations of two datasets, the one of largest size of each run; infinite
    where one dataset alone has NaN."""
    found = {}
    shares = "loss_function" in now.coords and now["loss_function"].values == "cross_entropy"
    floors = np.where(shares, SHARE_FLOOR, RISK_FLOOR).reshape(-1, 1)
    for name in now.data_vars:
        quantity = next((known for known in LEAST if name.startswith(known)), None)
        if quantity is None or name not in then:
            continue
        values = [one[name].values.astype(float).reshape(one.sizes["run"], -1) for one in (now, then)]
        floor = floors if quantity == "risk" else 1.0
        new, old = (np.log(np.maximum(value, 0) + floor) for value in values)
        apart = np.nan_to_num(np.where(np.isnan(new) & np.isnan(old), 0.0, new - old), nan=np.inf)
        known = [found[quantity][:, None]] if quantity in found else []
        apart = np.concatenate([*known, apart], axis=1)
        found[quantity] = apart[np.arange(len(apart)), np.abs(apart).argmax(axis=1)]
    return found


def bounds(quantity, rounding, band=None):
    """(bound on each network, bound on their median) of the differences of a quantity.

    They are `WIDENING` times the largest difference, and the upper quartile of differences, between reruns from weights
    that differ by a rounding: `band` is {quantity: {largest, quartile}}. Without one training is deterministic, in
    numbers of this relative `rounding`.
    """
    if band is None:
        bound = {"risk": rounding**0.5, "evaluations": EVALUATIONS}[quantity]
        return bound, bound
    single, median = (WIDENING * band[quantity][name] for name in ("largest", "quartile"))
    return max(single, LEAST[quantity][0]), min(max(median, LEAST[quantity][1]), MOST[quantity])


def _archived(sweep, superseded, names=None):
    """{experiment: archived dataset} of the experiments of these names, or of all; prints which it leaves out, and why.

    Raises UserError for a name that the configuration does not have, and where nothing is compared.
    """
    if unknown := [name for name in names or () if name not in sweep.config["experiments"]]:
        raise UserError(f"{unknown[0]} is no experiment: known are {', '.join(sweep.config['experiments'])}.")
    data = {}
    for experiment in names or sweep.config["experiments"]:
        measure = retraining.compared_measure(sweep, experiment)
        if experiment in superseded:
            print(f"{experiment:24} superseded: {superseded[experiment]}")
        elif measure is not None and (why := archive.mismatch(sweep, experiment, measure)):
            print(f"{experiment:24} not compared: {why}")
        elif measure is not None:
            data[experiment] = archive.load(sweep.config["archive"], experiment, measure)
            if not retraining.told_apart(data[experiment]):
                print(f"{experiment:24} not compared: its coordinates do not tell its runs apart")
                del data[experiment]
    if not data and not superseded:
        raise UserError(f"{sweep.config['archive']} has nothing of what the configuration asks for.")
    return data


def _sample(sweep, data, rng, fraction):
    """Runs to train again: experiments take turns in random order until the budget is spent; a `fraction` of the runs
    has no budget."""
    names = rng.permutation(sorted(data)).tolist()
    if fraction is not None:
        counts = {name: max(1, round(fraction * retraining.count(sweep, name, data[name]))) for name in names}
        return [retraining.draw(sweep, n, data[n], rng) for n in names for _ in range(counts[n])]
    runs, left, most = [], BUDGET, CHEAP
    while names:
        for name in list(names):
            drawn = _affordable(sweep, name, data[name], rng, min(left, most), 1)
            if drawn and retraining.enlarges_rounding(sweep, drawn[0]):
                drawn += _affordable(sweep, name, data[name], rng, most, FOR_MEDIAN - 1, chaotic=True)
            runs += drawn
            left -= sum(run.seconds for run in drawn)
            if not drawn and most == DEAREST:
                names.remove(name)
        most = DEAREST
    return runs


def _affordable(sweep, experiment, data, rng, most, count, chaotic=False):
    """Up to `count` runs that take at most so many seconds each; `chaotic`: whose training enlarges rounding."""
    drawn = []
    for _ in range(count):
        candidates = (retraining.draw(sweep, experiment, data, rng) for _ in range(DRAWS))
        fitting = (r for r in candidates
                   if r.seconds <= most and (not chaotic or retraining.enlarges_rounding(sweep, r)))  # fmt: skip
        drawn += itertools.islice(fitting, 1)
    return drawn


def _compared(sweep, experiment, data, runs, bands):
    """(line on an experiment, sentences on what disagrees) of runs that are trained again."""
    ratios, wrong, apart, count = [], [], {}, 0
    for run in runs:
        chaotic = retraining.enlarges_rounding(sweep, run)
        if chaotic and experiment not in bands:
            return f"{experiment:24} not compared: its training enlarges rounding; measure its bands by --bands", []
        now = retraining.retrain(sweep, run)
        then, count = retraining.archived_rows(data[experiment], now), count + now.sizes["run"]
        for quantity, values in differences(now, then).items():
            most, median = bounds(quantity, retraining.rounding(sweep, run), bands[experiment] if chaotic else None)
            apart.setdefault((quantity, median), []).append(values)
            if chaotic and quantity == "evaluations":
                continue  # a rounding may end one training in half of the steps; the median of several tells more
            largest, places = np.abs(values).max(), np.flatnonzero(np.abs(values) > most)
            ratios.append((largest / most, f"{quantity}: {largest:.1e}, bound {most:.1e}"))
            wrong += [_disagreement(experiment, quantity, now, then, place) for place in places]
    for (quantity, most), parts in apart.items():
        values = np.concatenate(parts)
        if len(values) >= FOR_MEDIAN:
            middle, mean = float(np.median(np.abs(values))), abs(float(values.mean()))
            ratios.append((middle / most, f"median {quantity}: {middle:.1e}, bound {most:.1e}"))
            wrong += [f"{experiment}: {ratios[-1][1]}."] if middle > most else []
            allowed = max(STANDARD_ERRORS * float(values.std(ddof=1)) / math.sqrt(len(values)), LEAST["risk"][1])
            if quantity == "risk" and mean > allowed:
                wrong.append(f"{experiment}: mean difference of log risk: {mean:.1e}, bound {allowed:.1e}.")
    worst = max(ratios, default=(0.0, "nothing to compare"))[1]
    return f"{experiment:24} {count:4} runs  {worst:50} {'DISAGREES' if wrong else 'agrees'}", wrong


def _disagreement(experiment, quantity, now, then, place):
    names = [name for name in now.data_vars if name.startswith(quantity) and name in then]
    pairs = ((name, *(np.ravel(one[name].values[place])[-1] for one in (now, then))) for name in names)
    values = "; ".join(f"{name} is {new:.8g}, archived {old:.8g}" for name, new, old in pairs)
    return f"{experiment}, {retraining.spelled(now.isel(run=place))}: {values}."


def _measure_bands(sweep, data, place, rng):
    """Train runs of experiments twice, from weights that differ by a rounding, and write how far apart they end."""
    for experiment in data:
        apart = []
        for run in _affordable(sweep, experiment, data[experiment], rng, DEAREST, RERUNS, chaotic=True):
            pair = differences(retraining.retrain(sweep, run, PERTURBATION), retraining.retrain(sweep, run))
            apart.append({quantity: np.abs(values) for quantity, values in pair.items()})
        if not apart:
            print(f"{experiment:24} no bands: no run that was drawn enlarges rounding", flush=True)
            continue
        joined = {name: np.concatenate([one[name] for one in apart if name in one]) for name in apart[0]}
        measured = {"runs": len(joined["risk"])}
        for quantity, values in joined.items():
            measured[quantity] = {"largest": _short(values.max()), "quartile": _short(np.quantile(values, 0.75))}
        known = _read(place)
        known.setdefault(Path(sweep.config["archive"]).name, {})[experiment] = measured
        with writing.atomic(place) as unfinished:
            unfinished.write_text(HEADING + yaml.safe_dump(known))
        print(f"{experiment:24} {measured}", flush=True)


def _short(value):
    return float(f"{value:.1e}")


def _read(file):
    return files.read(file, str(file)) if file.exists() else {}


HEADING = """\
# Differences of the logarithms of risks and evaluations between two trainings of the same run, from weights that differ
# by a relative 1e-12 (one rounding where training is in single precision): measured by scripts/papers_check.py --bands,
# which compares with three times these values.
"""
