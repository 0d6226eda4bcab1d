"""The factor on the networks of one of our own families, whose risk is exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from carryover.config import plugins
from carryover.config.parameters import model_of, read
from carryover.diagnosis.factors.choice import Choice
from carryover.diagnosis.factors.search import search_factor
from carryover.errors import UserError
from carryover.families import contract, running


def choose_family_factor(family: str, pretrain: Mapping, finetune: Mapping, **search: Any) -> Choice:
    """The factor on the pretrained networks of one of our families with which finetuning ends at the lowest risk.

    Args:
        family: one whose finetuning says EXACT_RISK, such as "relu"; for others there is `choose_factor`.
        pretrain, finetune: parameters of the two stages by name, as in the configuration, with its `task` in both.
            `rescaled` says which layers the factor is on.
        search: arguments of `search_factor`, whose score is minus the decadic logarithm of the risk.

    Raises:
        UserError: for another family, an unknown parameter or a value that is not allowed, and as `search_factor`.
    """
    if family not in plugins.names("families"):
        raise UserError(f"there is no family {family}")
    if not getattr(contract.stage(family, "finetune"), "EXACT_RISK", False):
        raise UserError(f"the family {family} has no exact risk, by which a factor could be chosen")

    def parameters(stage: str, values: Mapping) -> Any:
        return read(model_of(f"families.{family}", stage), dict(values), f"{stage} of the family {family}: ")

    def done(stage: str, p: Any, seed: int, pretrained: xr.Dataset | None = None) -> xr.Dataset:
        solve = contract.solver(family, p.solver).solve
        return running.run(contract.stage(family, stage), p, "choose_family_factor", [seed], solve, pretrained)

    first = parameters("pretrain", pretrain)
    second = parameters("finetune", {**finetune, "protocol": "finetuning"})
    starts: dict[int, xr.Dataset] = {}  # no functools.cache, which could not be sent to other processes

    def run(factor: float, seed: int) -> float:
        if seed not in starts:
            starts[seed] = done("pretrain", first, seed)
        finetuned = done("finetune", second.model_copy(update={"rescale": (factor,)}), seed, starts[seed])
        return -float(np.log10(finetuned["risk_final"]).mean())

    return search_factor(run, which="all" if second.rescaled == "both" else f"{second.rescaled}-layer", **search)
