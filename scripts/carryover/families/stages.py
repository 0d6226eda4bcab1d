"""A stage of any family: its problems are posed, solved, and assembled to one dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.families import contract
from carryover.families.contract import Shard, Variables
from carryover.training.result import Divergence, Trained

MEANING = {
    "seed": "seed of teacher, data and weights",
    "overlap": "fraction of the main task's features that are auxiliary ones",
    "rescale": "factor on the weights before training",
    "samples": "main-task samples",
    "protocol": "what is trained, from which start",
    "solver": "how it was solved",
    "loss_function": "loss that was minimised; the risk is its test error: for cross_entropy the share misclassified",
    "pretrain_solver": "how the pretrained network was solved",
    "output": "readout",
}
CURVES = {
    "loss": "loss",
    "risk": "risk",
    "effective_features": "effective number of main features",
    "l1_norm": "ℓ1 norm of the main task's coefficients",
    "group_norm": "ℓ1,2 norm of all tasks' coefficients",
}
MEASURED = {
    "learning_rate": "step of gradient descent",
    "at_rest": "1 where training came to rest above its tolerance",
    "ridge_strength": "ridge strength in units of the kernel's mean eigenvalue",
    "validation_loss": "mean squared error on samples held out, by cross-validation",
}
SIZES = {"dimension": "input", "width": "unit", "teacher_units": "teacher_unit"}
"""{parameter: dimension of the pretrained dataset that it is the size of}."""


def run(
    p: Any,
    experiment: str,
    seeds: Sequence[int],
    pretrained: xr.Dataset | None = None,
    progress: Callable[[Mapping[str, float]], None] | None = None,
    solve: Callable[..., Trained] | None = None,
) -> xr.Dataset:
    """Pose and solve the problems of a shard.

    Parameters
    ----------
    p : parameters of a family's stage, its model `Pretrain` or `Finetune`
    experiment, seeds, pretrained : those of the `Shard`
    progress : argument of the solver
    solve : the `Solver`, if it is not the one that `p` names

    Returns
    -------
    xarray.Dataset
        With the dimension `run`, whose coordinates describe each run; every variable has a `long_name` and `units`.

    Raises
    ------
    UserError
        The pretrained networks are missing, superfluous or others, a training diverged, or what stage and solver raise.
    """
    _check_start(p, seeds, pretrained)
    shard = Shard(experiment, list(seeds), pretrained)
    shared = {name: getattr(p, name) for name in ("protocol", "solver") if hasattr(p, "protocol")}
    shared["loss_function"] = getattr(p, "loss", "squared")
    if pretrained is not None:
        shared["pretrain_solver"] = str(pretrained["pretrain_solver"].values[0])
    elif not hasattr(p, "protocol"):
        shared["pretrain_solver"] = p.solver
    solved = []
    solve = solve or contract.solver(p)
    for piece in contract.stage(p)(p, shard):
        columns = {name: np.asarray(values) for name, values in {**piece.runs, **shared}.items()}
        count = max(values.size for values in columns.values())
        columns = {name: values if values.ndim else np.full(count, values) for name, values in columns.items()}
        try:
            trained = solve(piece.problem, p, progress)
        except Divergence as error:  # who trains knows their indices alone
            raise Divergence(error.runs, error.what, columns) from error
        solved.append((columns, piece.variables(trained)))  # without the problem, whose data are large
    return _assembled(solved, piece)


def of_training(trained: Trained) -> Variables:
    """Variables of a `Trained`, without its weights."""
    curve = ("run", "checkpoint")
    measured = {name: getattr(trained, name) for name in MEASURED}
    curves = {f"{k}_curve": (curve, v, f"{CURVES[k]} along training") for k, v in trained.curves.items()}
    return {
        "loss": ("run", trained.loss, "loss on the training data"),
        "evaluations": ("run", trained.evaluations, "gradient evaluations"),
        "converged": ("run", trained.converged.astype(np.int8), "1 where the loss reached its tolerance"),
        "risk_final": ("run", trained.risk_final, "risk at the end of training"),
        "risk_best": ("run", trained.risk_best, "smallest risk along training"),
        **{name: ("run", values, MEASURED[name]) for name, values in measured.items() if values is not None},
        "time": (curve, trained.time, "flow time of the checkpoint"),
        **curves,
    }


def single(variables: Variables) -> Variables:
    """The same variables in single precision."""
    return {name: (dims, np.asarray(values, np.float32), text) for name, (dims, values, text) in variables.items()}


def _check_start(p, seeds, pretrained):
    """Refuse a pretrained shard that the runs do not start from, of other sizes, or that lacks a seed or another value
    that its networks differ in; UserError."""
    if (pretrained is not None) != p.starts_pretrained:
        remedy = "name their shard with --pretrained" if p.starts_pretrained else "leave --pretrained out"
        start = "pretrained networks" if p.starts_pretrained else "scratch"
        raise UserError(f"{getattr(p, 'protocol', 'pretraining')} starts from {start}: {remedy}.")
    if pretrained is None:
        return
    for name, dimension in SIZES.items():
        if hasattr(p, name) and (found := pretrained.sizes.get(dimension)) not in (getattr(p, name), None):
            raise UserError(f"{name} is {getattr(p, name)}, but the pretrained networks have {found}.")
    several = {name: values for name, values in p if isinstance(values, tuple) and name in pretrained.coords}
    for name, values in {"seed": seeds, **several}.items():
        known = np.unique(pretrained[name].values).tolist()
        if missing := [value for value in values if value not in known]:
            raise UserError(f"the pretrained shard has the {name} {known}, but not {missing}.")


def _assembled(solved, last):
    """Dataset over `run` of pieces, one after the other: [({coordinate: (runs,) values}, their variables)].

    Variables without runs are the same in all pieces, and are taken from the last.
    """
    coordinates, variables = solved[-1]
    meanings = {**MEANING, **last.meaning, **{name: text for name, (_, _, text) in variables.items()}}
    runs = {name: ("run", np.concatenate([columns[name] for columns, _ in solved])) for name in coordinates}
    joined = {name: (dims, values) for name, (dims, values, _) in variables.items()}
    for name, (dims, _) in joined.items():
        if "run" in (dims, dims[0]):
            joined[name] = (dims, np.concatenate([piece[name][1] for _, piece in solved]))
    data = xr.Dataset(joined, {**runs, "output": list(last.outputs)}, last.attributes)
    for name, variable in data.variables.items():
        label, unit = meanings[name] if isinstance(meanings[name], tuple) else (meanings[name], "1")
        variable.attrs = {"long_name": label, "units": unit}
    return data
