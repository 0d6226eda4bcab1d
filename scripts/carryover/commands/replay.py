"""Draw a published run of "Feature reuse" again from its seed, train it as its authors did, and print its risk.

Without a condition that tells its task, the runs that there are are listed. With --runs, so many of the cheap published
runs are drawn by --seed and replayed, with the published risks beside them.
"""

import argparse
from pathlib import Path
from time import monotonic

import numpy as np
import pandas as pd

from carryover import archive
from carryover.errors import UserError
from carryover.families import stages
from carryover.families.published import finetune, protocols
from carryover.families.published.parameters import Finetune, Pretrain
from carryover.labels import attributes, described
from carryover.provenance import store

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "resources/published/feature-reuse-seeds.csv"
SHA256 = "29aa6785d1d6b5a3eaeabfdf1eae4881d5ac31b482fdbedbaea09e41d242ed17"  # of the table
CHEAP = 64  # samples at most, of trainings that take seconds
NEAR = 0.01  # relative difference within which a risk is the published one
CONDITION = {
    "features": "main_features",
    "overlap": "overlap",
    "cosines": "unit_correlations",
    "magnitude": "magnitude",
}
"""{flag: coordinate}."""


def replay(experiment, setup, seed, samples, factor=1.0, pretrained=None, **condition):
    """Train a published run again.

    Parameters
    ----------
    experiment : str
        relu_overlap, relu_nested, relu_rescaled, relu_magnitude, or the first three of diagonal networks.
    setup : str
        STL, MTL, PT+FT, STL (LR), PT+FT (LR), STL (NTK) or PT+FT (NTK).
    seed, samples, factor : int, int, float
        Of the run; the factor on the weights before training.
    pretrained : xarray.Dataset, optional
        Weights of pretrained networks by seed: those of the archive if there are, else they are trained.
    **condition
        Coordinates of the main task: main_features, overlap, unit_correlations, magnitude; as many as tell it.

    Returns
    -------
    xarray.Dataset
        Of one run: inputs and targets, weights before and after, the risk and how training went.

    Raises
    ------
    UserError
        Nobody published such a run, or several.
    """
    by_setup = {name: protocol for protocol, name in protocols.SETUPS.items()}
    for what, value, known in (("experiment", experiment, protocols.EXPERIMENTS), ("setup", setup, by_setup)):
        if value not in known:
            raise UserError(f"no {what} {value} was published; known are {', '.join(known)}.")
    protocol, about = by_setup[setup], protocols.EXPERIMENTS[experiment]
    found = protocols.runs(experiment, protocol, factor, samples, [seed])
    if not found:
        raise UserError(f"no run of {experiment} with seed {seed} was published; known are 0 to {about.seeds - 1}.")
    if wanted := {name: value for name, value in condition.items() if value is not None}:
        found = [run for run in found if all(same(run[name], value) for name, value in wanted.items())]
    if len(found) != 1:
        varied = {f"--{flag}": {run[name] for run in about.conditions} for flag, name in CONDITION.items()}
        known = "; ".join(f"{flag} {', '.join(map(str, sorted(has)))}" for flag, has in varied.items() if len(has) > 1)
        raise UserError(f"{len(found) or 'no'} published runs of {experiment} are so: choose among {known}.")
    fitted = protocol.endswith(("_probe", "_kernel"))
    p = Finetune(network=about.network, protocol=protocol, solver="fitted" if fitted else "descent",
                 published=(experiment,), rescale=(factor,), samples=(samples,))  # fmt: skip
    if p.starts_pretrained and pretrained is None:
        pretrained = pretrained_networks(about.network, seed)
    shard = stages.Shard("replay", [seed], pretrained if p.starts_pretrained else None)
    piece = finetune.piece(p, shard, found, [True])
    return dataset(piece, stages.solver(p)(piece.problem, p))


def same(value, wanted):
    """Whether a coordinate has a value, of a number to a thousandth."""
    return value == wanted if isinstance(value, str) else abs(value - wanted) < 1e-3


def pretrained_networks(network, seed):
    """The archived networks, or, of other kinds than these, that of the seed, which takes minutes."""
    folder = ROOT / "resources/archive/replay"
    if network == "relu" and archive.path(folder, "replay_relu", "pretrained_weights").exists():
        return archive.load(folder, "replay_relu", "pretrained_weights")
    print(f"pretraining the network of seed {seed}, which takes some minutes", flush=True)
    return stages.run(Pretrain(network=network), "replay", [seed])


def dataset(piece, trained):
    """The one run of a piece: its data, its network and its risk."""
    problem, variables = piece.problem, dict(piece.variables(trained))
    tasks = {"auxiliary": problem.tasks[0]} if len(problem.tasks) > 1 else {}
    for name, task in (tasks | {"main": problem.tasks[-1], "test": problem.test}).items():
        variables[f"{name}_inputs"] = (("run", f"{name}_sample", "input"), task.X, f"inputs of the {name} samples")
        variables[f"{name}_targets"] = (("run", f"{name}_sample"), task.y, f"targets of the {name} samples")
    for when, weights in (("start", problem.start), ("end", trained.weights)):
        for name, values in vars(weights).items():
            dims = ("run", *(f"{name}_{axis}" for axis in range(1, values.ndim)))
            variables[f"{name}_{when}"] = (dims, values, f"weights at the {when}")
    meaning = stages.MEANING | piece.meaning
    coordinates = {name: ("run", values, attributes(meaning[name])) for name, values in piece.runs.items()}
    return described(variables, {}).assign_coords(coordinates).isel(run=0)


def cheap_runs(count, seed):
    """A data frame of published runs, drawn from those that take seconds.

    Probes and kernels of pretrained networks are left out, which agree less often.
    """
    if store.sha256_or_none(TABLE) != SHA256:
        raise UserError(f"{TABLE} is missing, or not the table of published risks: restore it.")
    table = pd.read_csv(TABLE).fillna({"unit_correlations": ""})
    relu = table["published"].isin(("relu_overlap", "relu_nested")) & (table["samples"] <= CHEAP)
    relu &= table["protocol"].isin(("single_task", "finetuning", "single_task_probe", "single_task_kernel"))
    diagonal = table["published"].isin(("diagonal_overlap", "diagonal_nested")) & (table["samples"] == 16)
    table = table[relu | (diagonal & table["protocol"].str.startswith("single_task"))]
    return table.sample(min(count, len(table)), random_state=np.random.default_rng(seed))


def print_run(experiment, setup, seed, samples, factor, condition, published=None):
    """Replay a run and print its digits in a line; the dataset of `replay`."""
    start = monotonic()
    found = replay(experiment, setup, seed, samples, factor, **condition)
    task = found.unit_correlations.item() or f"{found.main_features.item()} at {found.overlap.item():g}"
    risk, words = found.risk_best.item(), ""
    if published is not None:
        words = f" published {published:.6g}, apart by {abs(risk / published - 1):.1e};"
    print(f"{experiment} {setup}, n = {samples}, {task}, factor {factor:g}, seed {seed}: {risk:.6g};{words} "
          f"{found.evaluations.item()} steps, {monotonic() - start:.1f} s", flush=True)  # fmt: skip
    return found


def replay_drawn(count, seed):
    """Replay so many cheap runs, drawn by a seed, and print their digits beside the published ones."""
    if count < 1 or seed < 0:
        raise UserError("--runs must be at least 1, and --seed at least 0.")
    near = 0
    for _, row in cheap_runs(count, seed).iterrows():
        condition, setup = {name: row[name] for name in CONDITION.values()}, protocols.SETUPS[row["protocol"]]
        run = row["published"], setup, row["seed"], row["samples"], row["rescale"], condition
        near += abs(print_run(*run, row["risk"]).risk_best.item() / row["risk"] - 1) <= NEAR
    print(f"{near} of {count} runs are within 1 % of the published risk.")


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover replay", description=__doc__, allow_abbrev=False)
    parser.add_argument("--experiment", help=", ".join(protocols.EXPERIMENTS))
    parser.add_argument("--setup", default="STL", help=", ".join(protocols.SETUPS.values()))
    parser.add_argument("--seed", type=int, default=0, help="of the run, or of the draw of --runs")
    parser.add_argument("--samples", type=int, default=16, help="of the main task")
    parser.add_argument("--factor", type=float, default=1.0, help="on the weights before training")
    parser.add_argument("--features", type=int, help="dimensions or units of the main task")
    parser.add_argument("--overlap", type=float, help="share of them that are auxiliary ones")
    parser.add_argument("--cosines", help='of main with auxiliary units, as in "1 1 1 0 0 0"')
    parser.add_argument("--magnitude", type=float, help="of the main task's coefficients")
    parser.add_argument("--runs", type=int, metavar="COUNT", help="replay so many of the cheap runs, drawn by --seed")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="netCDF file for data, network and risk")
    given = parser.parse_args(argv)
    if given.runs is not None:
        replay_drawn(given.runs, given.seed)
        return True
    if not given.experiment:
        raise UserError(f"name an --experiment of {', '.join(protocols.EXPERIMENTS)}, or --runs COUNT.")
    condition = {coordinate: getattr(given, flag) for flag, coordinate in CONDITION.items()}
    found = print_run(given.experiment, given.setup, given.seed, given.samples, given.factor, condition)
    if given.output:
        store.save(found, given.output)
    return True
