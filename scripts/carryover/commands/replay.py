"""Draw a published run of "Feature reuse" again from its seed, train it as its authors did, and print its risk.

Without a condition that tells its task, the values that it can have are listed. With --runs, so many of the published
runs are replayed, drawn by --seed from those that take seconds, with the published risks next to them.
"""

import argparse
from pathlib import Path
from time import monotonic

import numpy as np
import pandas as pd

from carryover import archive
from carryover.analysis.replay import NEAR
from carryover.errors import UserError
from carryover.families import stages
from carryover.families.published import finetune, protocols
from carryover.families.published.parameters import Finetune, Pretrain
from carryover.labels import attributes, make_dataset
from carryover.provenance import store

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "resources/published/feature-reuse-seeds.csv"
SHA256 = "29aa6785d1d6b5a3eaeabfdf1eae4881d5ac31b482fdbedbaea09e41d242ed17"  # of the table


def replay(experiment, setup, seed, samples, factor=1.0, **condition):
    """Train a published run again.

    Parameters
    ----------
    experiment : str
        relu_overlap, relu_nested, relu_rescaled, relu_magnitude, or the first three of diagonal networks.
    setup : str
        STL, MTL, PT+FT, STL (LR), PT+FT (LR), STL (NTK) or PT+FT (NTK).
    seed, samples, factor : int, int, float
        Of the run; the factor on the weights before training.
    **condition
        Coordinates of the main task: main_features, overlap, unit_correlations, magnitude; as many as identify it.

    Returns
    -------
    xarray.Dataset
        Of one run: inputs and targets, weights before and after, the risk and how training went.

    Raises
    ------
    UserError
        No published run has these values, or several have.
    """
    return train(find(experiment, setup, seed, samples, factor, **condition))


def find(experiment, setup, seed, samples, factor, **condition):
    """The one published run, {coordinate: value}, that fits the arguments of `replay`, of which None fits every value;
    UserError where none fits or several do."""
    shared = {"published": experiment, "setup": setup, "samples": samples, "rescale": factor, "seed": seed}
    found = protocols.select(**shared, **condition)
    if len(found) > 1:
        values = {name: ", ".join(map(str, dict.fromkeys(run[name] for run in found))) for name in found[0]}
        known = "; ".join(f"{name} {words}" for name, words in values.items() if ", " in words)
        raise UserError(f"{len(found)} published runs are so: choose among {known}.")
    return found[0]


def train(run):
    """Train a published `run`, {coordinate: value} as `protocols.select` returns it; returns what `replay` returns."""
    protocol, network, seed = run["protocol"], run["network"], run["seed"]
    fitted = protocol.endswith(("_probe", "_kernel"))
    p = Finetune(network=network, protocol=protocol, solver="fitted" if fitted else "descent")
    pretrained = load_pretrained(network, seed) if p.starts_pretrained else None
    batch = finetune.make_batch(p, stages.Shard("replay", [seed], pretrained), [run], [True])
    return dataset(batch, stages.solver(p)(batch.problem, p))


def dataset(batch, trained):
    """The dataset of the one run of a `stages.Batch`: its data, its network and its risk.

    `trained` is what a solver returned for the batch, with the weights at the end.
    """
    problem, variables, meaning = batch.problem, dict(batch.variables(trained)), stages.MEANING | batch.meaning
    for name, task in [*zip(batch.outputs, problem.tasks, strict=True), ("test", problem.test)]:
        variables[f"{name}_inputs"] = (("run", f"{name}_sample", "input"), task.X, f"inputs of the {name} samples")
        variables[f"{name}_targets"] = (("run", f"{name}_sample"), task.y, f"targets of the {name} samples")
    for when, weights in (("start", problem.start), ("end", trained.weights)):
        for name, values in vars(weights).items():
            dims = ("run", *(f"{name}_{axis}" for axis in range(1, values.ndim)))
            variables[f"{name}_{when}"] = (dims, values, f"weights at the {when}")
    coordinates = {name: ("run", values, attributes(meaning[name])) for name, values in batch.runs.items()}
    return make_dataset(variables, {}).assign_coords(coordinates).isel(run=0)


def load_pretrained(network, seed):
    """A dataset of pretrained networks: the archived ones of all seeds for "relu", or else one of this seed, which is
    trained here and takes minutes."""
    folder = ROOT / "resources/archive/replay"
    if network == "relu" and archive.path(folder, "replay_relu", "pretrained_weights").exists():
        return archive.load(folder, "replay_relu", "pretrained_weights")
    print(f"pretraining the network of seed {seed}, which takes some minutes", flush=True)
    return stages.run(Pretrain(network=network), "replay", [seed])


def cheap_runs():
    """Published runs that take seconds, but not probes and kernels of pretrained networks, which agree less often."""
    relu = ("single_task", "finetuning", "single_task_probe", "single_task_kernel")
    diagonal = ("single_task", "single_task_probe")
    return [
        *protocols.select(published=("relu_overlap", "relu_nested"), samples=(16, 32, 64), protocol=relu),
        *protocols.select(published=("diagonal_overlap", "diagonal_nested"), samples=16, protocol=diagonal),
    ]


def replay_sample(count, seed):
    """Replay so many cheap runs, drawn by a seed, and print their risks next to the published ones."""
    if count < 1 or seed < 0:
        raise UserError("--runs must be at least 1, and --seed at least 0.")
    if store.sha256_or_none(TABLE) != SHA256:
        raise UserError(f"{TABLE} is missing, or not the table of published risks: restore it.")
    # Merging keeps the cheap runs. Where a run has no unit correlations, its text is empty, as the cell is.
    table = pd.read_csv(TABLE).fillna({"unit_correlations": ""}).merge(pd.DataFrame(cheap_runs()))
    table = table.sample(min(count, len(table)), random_state=np.random.default_rng(seed))
    near = sum(print_run(run, run["risk"]) for run in table.to_dict("records"))
    print(f"{near} of {len(table)} runs are within 1 % of the published risk.")


def print_run(run, published=None, output=None):
    """Replay a run {coordinate: value}, print its risk and save what `replay` returns to `output`, if one is named.

    Returns whether the risk is `published`, the risk in the paper, within `NEAR`; False without one.
    """
    start = monotonic()
    found = train(run)
    risk, words = found.risk_best.item(), ""
    if published is not None:
        words = f" published {published:.6g}, apart by {abs(risk / published - 1):.1e};"
    task = run["unit_correlations"] or f"{run['main_features']} at {run['overlap']:g}"
    print(f"{run['published']} {run['setup']}, n = {run['samples']}, {task}, factor {run['rescale']:g}, seed "
          f"{run['seed']}: {risk:.6g};{words} {found.evaluations.item()} steps, {monotonic() - start:.1f} s",
          flush=True)  # fmt: skip
    if output:
        store.save(found, output)
    return published is not None and abs(risk / published - 1) <= NEAR


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover replay", description=__doc__, allow_abbrev=False)
    parser.add_argument("--experiment", help=", ".join(dict.fromkeys(run["published"] for run in protocols.RUNS)))
    parser.add_argument("--setup", default="STL", help=", ".join(protocols.SETUPS.values()))
    parser.add_argument("--seed", type=int, default=0, help="of the run, or of the draw of --runs")
    parser.add_argument("--samples", type=int, default=16, help="of the main task")
    parser.add_argument("--factor", type=float, default=1.0, help="on the weights before training")
    parser.add_argument("--features", dest="main_features", type=int, help="dimensions or units of the main task")
    parser.add_argument("--overlap", type=float, help="share of them that are auxiliary ones")
    parser.add_argument("--cosines", dest="unit_correlations", help='with auxiliary units, as in "1 1 1 0 0 0"')
    parser.add_argument("--magnitude", type=float, help="of the main task's coefficients")
    parser.add_argument("--runs", type=int, metavar="COUNT", help="replay so many of the cheap runs, drawn by --seed")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="netCDF file for data, network and risk")
    # What remains are the arguments of `find`; None leaves a coordinate of the task open.
    options = vars(parser.parse_args(argv))
    count, output = options.pop("runs"), options.pop("output")
    if count is not None:
        replay_sample(count, options["seed"])
    else:
        print_run(find(**options), output=output)
    return True
