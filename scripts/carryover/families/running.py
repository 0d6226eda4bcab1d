"""The run of a stage, the same for all families: problems are posed, solved, and put together as one dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from carryover.config.parameters import applies
from carryover.errors import UserError
from carryover.families import datasets
from carryover.families.contract import Piece, Shard, Stage, breach
from carryover.training.result import Trained, naming_runs


def run(
    stage: Stage,
    p: Any,
    experiment: str,
    seeds: Sequence[int],
    solve: Callable[..., Trained],
    pretrained: xr.Dataset | None = None,
    progress: Callable[[Mapping[str, float]], None] | None = None,
) -> xr.Dataset:
    """All runs of a shard.

    Args:
        stage: module pretrain or finetune of a family.
        p: its parameters.
        experiment, seeds, pretrained: of the `Shard`.
        solve, progress: `Solver.solve` of the family's solver, and what it tells.

    Returns:
        Dataset with the dimension `run`, whose coordinates say what each run was; every variable has a `long_name` and
        `units`.

    Raises:
        UserError: The pretrained networks are missing, superfluous or others, a training diverged, or the stage or the
            solver breaks the contract; and what they themselves raise.
    """
    _check_start(starts(p), p, seeds, pretrained)
    shard = Shard(experiment, list(seeds), pretrained)
    pieces = stage.problems(p, shard)
    if not isinstance(pieces, Iterator):
        raise breach(stage.__name__, f"problems returned a {type(pieces).__name__}, not an iterator of Pieces")
    solved = []
    for piece in pieces:
        solved.append(_solved(stage, piece, p, shard, solve, progress))  # without the problem, whose data are large
    return datasets.assemble(solved, piece.outputs, piece.meaning, piece.attributes)


def starts(p: Any) -> bool:
    """Whether runs with these parameters start from pretrained networks."""
    return bool(p.STARTS_FROM) and applies(p.STARTS_FROM, vars(p))


def _check_start(starts, p, seeds, pretrained):
    """Refuse a pretrained shard that the runs do not start from, or that lacks some of the seeds; UserError."""
    if (pretrained is not None) != starts:
        asked = "name their shard with --pretrained" if starts else "leave --pretrained out"
        start = "pretrained networks" if starts else "scratch"
        raise UserError(f"{getattr(p, 'protocol', 'pretraining')} starts from {start}: {asked}.")
    known = np.unique(pretrained["seed"].values).tolist() if starts else seeds
    if missing := [seed for seed in seeds if seed not in known]:
        raise UserError(f"the pretrained shard has the seeds {known}, but not {missing}.")


def _solved(stage, piece, p, shard, solve, progress):
    """A piece's coordinates, {name: (runs,) values}, and variables."""
    if not isinstance(piece, Piece):
        raise breach(stage.__name__, f"problems yielded a {type(piece).__name__}, not a Piece")
    columns = _columns(piece, p, shard)
    with naming_runs(columns):
        trained = solve(piece.problem, p, progress)
    if not isinstance(trained, Trained):
        raise breach(solve.__module__, f"solve returned a {type(trained).__name__}, not a Trained")
    if len(trained.loss) != len(columns["seed"]):
        raise breach(solve.__module__, f"solve returned {len(trained.loss)} networks for {len(columns['seed'])} runs")
    return columns, piece.variables(trained)


def _columns(piece, p, shard):
    """{coordinate: (runs,) values}: what the piece says of its runs, and what the parameters say of all."""
    shared = {name: getattr(p, name) for name in ("protocol", "solver") if hasattr(p, "protocol")}
    shared |= {"loss_function": p.loss} if hasattr(p, "loss") else {}
    if shard.pretrained is not None:
        shared["pretrain_solver"] = str(shard.pretrained["pretrain_solver"].values[0])
    elif not hasattr(p, "protocol"):
        shared["pretrain_solver"] = p.solver
    columns = {name: np.asarray(values) for name, values in (piece.runs | shared).items()}
    count = max(values.size for values in columns.values())
    return {name: values if values.ndim else np.full(count, values) for name, values in columns.items()}
