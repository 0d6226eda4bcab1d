"""Check whether today's code still gives the archived values: archived runs, drawn at random, are trained again.

Random streams are named by experiment, condition, seed and purpose, so a run draws the same numbers whatever is trained
with it, and one seed of a block can be trained alone. The check compares the logarithms of the risk and of the number
of evaluations of each network. Where training is deterministic, all must agree to rounding. Where training amplifies
rounding errors, a few trainings may end elsewhere, with all of their networks, so the median over trainings is compared
with the differences that rounding makes, which `bands.yaml` next to the archive lists. An experiment without bands is
not compared, nor one of which a sample has fewer than three such trainings. Experiments of which a family or measure is
pinned by a declared version come first; where they disagree, the version has expired.
"""

import argparse
import dataclasses
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from carryover import archive, runs
from carryover.config import files, plugins
from carryover.config.artifacts import STAGES
from carryover.errors import UserError
from carryover.families import stages
from carryover.provenance import environment, job_record
from carryover.training import devices
from carryover.workflow import command_line, startup

BUDGET = 120.0
"""Processor seconds, by the records, that a sample takes by default."""
MOST_SECONDS = 40.0
"""Of one run."""
OVERHEAD = 0.5
"""Processor seconds that the cheapest run takes."""
DRAWS = 30
"""Runs of an experiment that are drawn, of which it trains those that it can afford."""
FOR_MEDIAN = 3
"""Trainings whose median is compared, at least: networks of one training share what rounding has made of it."""
RISK_FLOOR, SHARE_FLOOR = 1e-8, 1e-2
"""Added to risks before the logarithm: training to losses of about 1e-8 leaves smaller ones undetermined; and to shares
that are misclassified, of which one test image is about a hundredth."""
SINGLE = float(np.finfo("float32").eps)
"""Rounding ε of descent in single precision. A risk is a squared distance of weights, so rounding changes it by about
2 √risk ε: half of its digits, which are compared, are determined above 4 ε, which takes the place of the floor."""
DETERMINISTIC_EVALUATIONS = 0.1
"""Bound on the evaluations of deterministic training, which rounding may end some steps earlier or later; twice the
learning rate changes their logarithm by about .69. Of its risk half of the digits must agree."""
MEDIANS = {"risk": (1e-3, math.inf), "evaluations": (0.1, 0.35)}
"""Smallest and largest bounds on medians; the last is half of what twice the learning rate does."""
WIDENING = 3.0
"""Between these, a bound is so many times the upper quartile in `bands.yaml`."""


@dataclasses.dataclass(frozen=True)
class Run:
    """Seeds, one as a rule, of a finetuned point.

    `stages` are its parameters from pretraining on; `seconds` is the recorded processor time of its jobs, for as many
    seeds.
    """

    seeds: tuple[int, ...]
    stages: list[Any]
    seconds: float

    @property
    def chaotic(self) -> bool:
        """Whether a solver promises no more than the distribution (`job_record.PORTABLE`)."""
        return any(stages.portable(p) == "distribution" for p in self.stages)

    def bound(self, quantity: str, band: dict) -> float:
        """The bound on the difference of a quantity, or, in chaotic training, on the median of several differences.

        `band` is {quantity: upper quartile} of the differences that a rounding makes.
        """
        if self.chaotic:
            least, most = MEDIANS.get(quantity, MEDIANS["risk"])
            return min(max(WIDENING * band.get(quantity, 0.0), least), most)
        if quantity == "evaluations":
            return DETERMINISTIC_EVALUATIONS
        return (SINGLE if self.single else float(np.finfo("float64").eps)) ** 0.5

    @property
    def risk_floor(self) -> float:
        """What is added to risks."""
        return 4 * SINGLE if self.single and not self.chaotic else RISK_FLOOR

    @property
    def single(self) -> bool:
        """Whether a stage is descent in single precision."""
        return any(p.solver == "descent" and getattr(p, "precision", "") == "float32" for p in self.stages)


def main(argv):
    """Check a sample of the archive of a configuration. True if all agrees."""
    parser = argparse.ArgumentParser(prog="papers_check.py", description=__doc__, allow_abbrev=False)
    default = ["config/config.yaml", "config/paper.yaml"]
    parser.add_argument("--configfile", nargs="+", default=default, metavar="FILE", help="(default: the papers' scale)")
    parser.add_argument("--seconds", type=float, default=BUDGET, help="of training, about (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="of the sample (default: derived from the commit)")
    arguments = parser.parse_args(argv)
    devices.keep_free_memory()
    sweep = startup.sweep_of_files(arguments.configfile)
    if not sweep.archive:
        raise UserError(f"{' '.join(arguments.configfile)}: no archive is named, so there is nothing to compare.")
    commit = environment.git_state(job_record.SCRIPTS)["commit"] or "0"
    seed = int(commit[:12], 16) if arguments.seed is None else arguments.seed
    bands, superseded = next_to(sweep.archive, "bands.yaml"), next_to(sweep.archive, "superseded.yaml")
    measures = comparable(sweep, bands, superseded)
    pins = {name: pinned(sweep.typed.experiments[name], measure) for name, measure in measures.items()}
    rng = np.random.default_rng(seed)
    order = sorted(rng.permutation(list(measures)), key=lambda name: not pins[name])
    drawn = sample(sweep, measures, order, rng, arguments.seconds)
    seconds = [run.seconds for trainings in drawn.values() for run in trainings]
    print(f"sample of seed {seed}: {len(seconds)} trainings, {sum(seconds):.0f} s by the records")
    wrong = []
    for experiment in sorted((name for name in drawn if drawn[name]), key=lambda name: (not pins[name], name)):
        trainings, band = drawn[experiment], bands.get(experiment, {})
        line, disagreements = compared(sweep, experiment, measures[experiment], trainings, band)
        print(line, flush=True)
        wrong += disagreements + pins[experiment] * bool(disagreements)
    if left_out := sorted(name for name, trainings in drawn.items() if not trainings):
        print(f"Not in this sample, since a run takes too long: {', '.join(left_out)}.")
    print("\n".join(wrong) or "All runs agree with the archive.")
    return not wrong


def next_to(folder, file):
    """{experiment: its entry} of a file next to the folder of an archive; empty if there is none."""
    path = Path(folder).with_name(file)
    return (files.read(path) if path.exists() else {}).get(Path(folder).name) or {}


def comparable(sweep, bands, superseded):
    """{experiment: measure} of archived datasets that can be compared; prints which it leaves out, and why."""
    measures = {}
    for experiment, spec in sweep.typed.experiments.items():
        if not spec.measures:
            continue
        # A pinned measure first, then the risk.
        measure = min(spec.measures, key=lambda name: (not plugins.find("measures", name).version, name != "risk"))
        points = [p for stage in STAGES for p in sweep.points(experiment, stage).values()]
        chaotic = any(stages.portable(point.parameters) == "distribution" for point in points)
        why = f"superseded: {superseded[experiment]}" if experiment in superseded else ""
        why = why or archive.mismatch(sweep, experiment, measure)
        folders = {getattr(point.parameters, "folder", "") for point in points} - {""}
        if lacking := [folder for folder in folders if not (Path(sweep.root) / folder).is_dir()]:
            why = why or f"its images are not here, in {lacking[0]}"
        if not why and chaotic and experiment not in bands:
            why = "its training enlarges rounding, and no bands of it were measured"
        if why:
            print(f"{experiment:24} not compared: {why}")
        else:
            measures[experiment] = measure
    if not measures and not superseded:
        raise UserError(f"{sweep.archive} has nothing of what the configuration asks for.")
    return measures


def pinned(spec, measure):
    """Sentences on the declared versions of an experiment's family and measure, for where they have expired."""
    versions = {f"{stage}, {spec.family}": plugins.model_of(f"families.{spec.family}", stage).VERSION
                for stage in STAGES}  # fmt: skip
    versions[measure] = plugins.find("measures", measure).version
    return [f"Version {version} of {what} has expired: declare another one."
            for what, version in versions.items() if version]  # fmt: skip


def sample(sweep, measures, order, rng, seconds):
    """{experiment: its runs to train again}: experiments take turns in this order, each with its share of the rest of
    the budget, until no run is cheap enough."""
    drawn: dict = {experiment: [] for experiment in order}
    durations = {experiment: archive.record(archive.path(sweep.archive, experiment, measures[experiment]))["seconds"]
                 for experiment in drawn}  # fmt: skip
    affordable = True
    while affordable:
        affordable = False
        for place, (experiment, trainings) in enumerate(drawn.items()):
            most = min(seconds / (len(drawn) - place), MOST_SECONDS)
            candidates = (draw(sweep, experiment, durations[experiment], rng) for _ in range(DRAWS))
            if run := next((candidate for candidate in candidates if candidate.seconds <= most), None):
                trainings.append(run)
                seconds, affordable = seconds - run.seconds, True
    return drawn


def draw(sweep, experiment, durations, rng):
    """A random `Run` of one seed; `durations` is {stage: {point: [seconds of each block of seeds]}} of the archive."""
    spec, seconds = sweep.typed.experiments[experiment], 0.0
    point = rng.choice(list(sweep.points(experiment, "finetune").values()))
    points = {"pretrain": point.source, "finetune": point} if point.source else {"finetune": point}
    for stage, stage_point in points.items():
        # The archive may stem from other jobs than today's; then the mean over all jobs counts.
        by_point = durations.get(stage, {})
        jobs = by_point.get(stage_point.name) or [job for others in by_point.values() for job in others] or [0.0]
        seconds += float(np.mean(jobs)) / min(spec.block, spec.seeds)
    stage_parameters = [stage_point.parameters for stage_point in points.values()]
    return Run((int(rng.integers(spec.seeds)),), stage_parameters, max(seconds, OVERHEAD))


def retrain(sweep, experiment, measure, run):
    """The measured dataset of a `Run`, by today's code, in memory."""
    trained = None
    for p in run.stages:
        trained = stages.run(p, experiment, run.seeds, trained)
    options = sweep.typed.experiments[experiment].measures[measure]
    return plugins.call("measures", measure, trained, **options)


def compared(sweep, experiment, measure, trainings, band):
    """(line on an experiment, sentences on disagreements) of runs that are trained again."""
    data, by_quantity, count = archive.load(sweep.archive, experiment, measure), {}, 0
    for run in trainings:
        now = retrain(sweep, experiment, measure, run)
        then, count = archived_rows(data, now), count + now.sizes["run"]
        whole = measure if plugins.find("measures", measure).version else "risk"
        for quantity, values in differences(now, then, run.risk_floor, whole).items():
            # A chaotic training counts by the median over its networks, another one by the worst of them.
            row = np.argsort(values)[len(values) // 2 if run.chaotic else -1]
            network = runs.format_identity(runs.identity(now.isel(run=row)))
            found = by_quantity.setdefault((quantity, run.bound(quantity, band), run.chaotic), [])
            found.append((float(values[row]), network))
    checks, wrong = [], []
    for (quantity, bound, chaotic), found in by_quantity.items():
        if chaotic and len(found) < FOR_MEDIAN:
            continue
        value, network = sorted(found)[len(found) // 2 if chaotic else -1]
        checks.append((value / bound, f"{quantity}: {value:.1e}, bound {bound:.1e}"))
        which = f"median of {len(found)} trainings, that of " if chaotic else ""
        if value > bound:
            sentence = f"{experiment}, {quantity} ({which}{network}): log differs by {value:.1e}, bound {bound:.1e}."
            wrong.append(sentence)
    verdict = "DISAGREES" if wrong else "agrees"
    _, worst = max(checks, default=(0.0, "too few to compare"))
    return f"{experiment:24} {count:4} runs  {worst:50} {verdict}", wrong


def differences(now, then, risk_floor, measure="risk"):
    """{quantity: (runs,) |Δ log|} of risks, with a floor added, and evaluations of two datasets, the largest of a run;
    infinite where one dataset alone has NaN. Of a pinned measure, the magnitudes of all its variables as well."""
    largest = {}
    losses = now["loss_function"].values if "loss_function" in now.coords else "squared"
    floors = {"risk": np.where(losses == "cross_entropy", SHARE_FLOOR, risk_floor).reshape(-1, 1), "evaluations": 1.0}
    variables = {quantity: [name for name in now.data_vars if name.startswith(quantity)] for quantity in floors}
    if measure != "risk":
        others = (name for name in now.data_vars if not name.startswith(tuple(floors)) and now[name].dtype.kind == "f")
        variables[measure], floors[measure] = list(others), risk_floor
    for quantity, floor in floors.items():
        for name in (name for name in variables[quantity] if name in then):
            new, old = (
                np.log(np.abs(data[name].values.reshape(data.sizes["run"], -1).astype(float)) + floor)
                for data in (now, then)
            )
            change = np.nan_to_num(np.where(np.isnan(new) & np.isnan(old), 0.0, np.abs(new - old)), nan=np.inf)
            largest[quantity] = np.maximum(largest.get(quantity, 0.0), change.max(axis=1))
    return largest


def archived_rows(data, now):
    """The runs of archived `data` with the coordinates of the runs of `now`; UserError where one is missing."""
    places = []
    for row in range(now.sizes["run"]):
        known = runs.identity(now.isel(run=row))
        matching = runs.run_mask(data, **{name: value for name, value in known.items() if name in data.coords})
        if matching.sum() != 1:
            raise UserError(f"the archive has {matching.sum()} runs with {runs.format_identity(known)}.")
        places.append(matching.argmax())
    return data.isel(run=places)


if __name__ == "__main__":
    command_line.run(lambda argv: sys.exit(not main(argv)))
