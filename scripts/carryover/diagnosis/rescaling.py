"""By how much to rescale a pretrained network before it is finetuned, chosen by validation.

"Feature reuse in multi-task learning and finetuning (appendix)", section F, rescales by 0.5 without a search. Here the
factor is searched for a network of one's own:

    choice = choose_factor(make, state, finetune, score)         # or choose_family_factor, of our own networks
    print(choice.sentence())

The search takes seeds as the noise that they are: every factor is tried with the same seeds, half of the factors are
dropped and the seeds doubled until few are left, places between the best and its neighbours are tried, and whether the
winner beats 1 is asked of seeds that had no part in choosing it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy import stats

from carryover.config import plugins
from carryover.config.parameters import check, scalar_type
from carryover.errors import UserError
from carryover.families import contract, running
from carryover.networks.convnet_weights import KINDS, rescaled

if TYPE_CHECKING:
    from torch.nn import Module

FACTORS = tuple(2.0**power for power in range(-4, 3))
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Choice:
    """The result of a search.

    `curve` has a dimension `factor`: score (mean over seeds), low and high (95 % t intervals of the mean) and seeds.
    `gain` is (mean, low, high) of the score with the chosen factor less that with 1, of the same fresh seeds.
    """

    factor: float
    curve: xr.Dataset
    gain: tuple[float, float, float]
    which: str

    @property
    def verdict(self) -> str:
        """Whether all of the gain's interval says "helps" or "hurts"; else "undecided", and "none" at the factor 1."""
        if self.factor == 1:
            return "none"
        _, low, high = self.gain
        return "helps" if low > 0 else "hurts" if high < 0 else "undecided"

    def sentence(self) -> str:
        """The result in one sentence."""
        if self.factor == 1:
            return f"No factor on {self.which} weights scored higher than 1 in validation: leave them as they are."
        mean, low, high = self.gain
        said = {
            "helps": "beats 1 beyond noise",
            "hurts": "is worse than 1 on fresh seeds: leave the weights as they are",
            "undecided": "does not beat 1 beyond noise: leave the weights as they are, or try more seeds",
        }[self.verdict]
        tried = self.curve["factor"].values
        end = {min(tried): " No smaller one was tried.", max(tried): " No larger one was tried."}.get(self.factor, "")
        return (
            f"A factor of {self.factor:g} on {self.which} weights gains {mean:.3g} [{low:.3g}, {high:.3g}]; "
            f"it {said}.{end}"
        )


def choose_factor(
    make: Callable[[int], Module],
    state: Mapping,
    finetune: Callable[[Module, int], None],
    score: Callable[[Module], float],
    which: str = "weights",
    **search: Any,
) -> Choice:
    """The factor on a pretrained torch module's weights with which finetuning scores highest in validation.

    Args:
        make: gives a new module from a seed, with the initial weights of the layers that finetuning begins anew.
        state: the pretrained `state_dict`, of the same network but for its last layer, which stays as `make` gave it
            where its shape is another or `state` lacks it.
        finetune: trains a module in place, from a seed for whatever is random.
        score: of a finetuned module on validation data that `finetune` does not use; higher is better.
        which: what is multiplied, new layers included: "all" that is trained, "weights", all but normalisation layers
            (those whose weight has one axis), or "readout", the last layer alone. Running statistics are never scaled:
            let `finetune` renew them where it matters.
        search: arguments of `search_factor`.

    Raises:
        UserError: for another `which`, naming the first parameter that a state of another network lacks or has in
            another shape, and as `search_factor`.
    """
    if which not in KINDS:
        raise UserError(f"which must be one of {', '.join(KINDS)}, got {which!r}")

    def run(factor: float, seed: int) -> float:
        module = make(seed)
        module.load_state_dict(rescaled(_pretrained(module, state), factor, which))
        finetune(module, seed)
        return float(score(module))

    return search_factor(run, which=which, **search)


def _pretrained(module: Module, state: Mapping) -> dict:
    """The module's `state_dict` with what `state` has of it: all but the last layer, where that is another."""
    own, network = module.state_dict(), type(module).__name__
    last = next(reversed(own), "").rpartition(".")[0]
    known = {name: tensor for name, tensor in state.items() if name in own and tensor.shape == own[name].shape}
    for name, tensor in own.items():
        layer, _, kind = name.rpartition(".")
        if name in known or layer == last or (name not in state and kind == "num_batches_tracked"):
            continue
        what = f"has {name!r} of the shape {tuple(state[name].shape)}" if name in state else f"lacks {name!r}"
        raise UserError(
            f"state {what}, in this {network} of the shape {tuple(tensor.shape)}: give weights of the same network, of "
            "which the last layer alone may be another"
        )
    return {**own, **known}


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
        cls = contract.stage(family, stage).Parameters
        if unknown := values.keys() - {field.name for field in fields(cls)}:
            raise UserError(f"{stage} of the family {family} has no parameter {', '.join(sorted(unknown))}")
        listed = {name: value if isinstance(value, list | tuple) else [value] for name, value in values.items()}
        p = cls(**{name: tuple(listed[name]) if scalar_type(cls, name)[1] else values[name] for name in values})
        check(p)
        return p

    def done(stage: str, p: Any, seed: int, pretrained: xr.Dataset | None = None) -> xr.Dataset:
        solve = contract.solver(family, p.solver).solve
        return running.run(contract.stage(family, stage), p, "choose_family_factor", [seed], solve, pretrained)

    first = parameters("pretrain", pretrain)
    second = parameters("finetune", {**finetune, "protocol": "finetuning"})
    start = cache(lambda seed: done("pretrain", first, seed))

    def run(factor: float, seed: int) -> float:
        finetuned = done("finetune", replace(second, rescale=(factor,)), seed, start(seed))
        return -float(np.log10(finetuned["risk_final"]).mean())

    return search_factor(run, which="all" if second.rescaled == "both" else f"{second.rescaled}-layer", **search)


def search_factor(
    run: Callable[[float, int], float],
    factors: Sequence[float] = FACTORS,
    seeds: int = 3,
    refinements: int = 1,
    fresh_seeds: int = 8,
    which: str = "all",
) -> Choice:
    """The factor with the highest score; `run` gives the score of one factor and seed, higher is better.

    Args:
        factors: a grid, equally spaced in the logarithm or not; 1 is always tried.
        seeds: for the first round; each further round has twice as many and half of the factors, and 1.
        refinements: how often the places half way (in the logarithm) to the best factor's neighbours are tried.
        fresh_seeds: other seeds for the comparison with 1, two or more.

    Raises:
        UserError: for factors that are not finite and above 0, too few seeds, and scores that are not finite.
    """
    if not all(math.isfinite(factor) and factor > 0 for factor in factors) or not factors:
        raise UserError(f"factors must be finite numbers above 0, got {list(factors)}")
    if seeds < 2 or fresh_seeds < 2:
        raise UserError(f"seeds and fresh_seeds must be at least 2, got {seeds} and {fresh_seeds}")
    scores = _Scores(run)
    alive = sorted({*map(float, factors), 1.0})
    while True:
        means = {factor: scores.of(factor, range(seeds)).mean() for factor in alive}
        if len(alive) <= 3:
            break
        best = sorted(alive, key=means.__getitem__, reverse=True)[: (len(alive) + 1) // 2]
        alive, seeds = sorted({*best, 1.0}), 2 * seeds
    for _ in range(refinements):
        place = max(means, key=means.__getitem__)
        tried = sorted(scores.factors)
        for other in tried[max(tried.index(place) - 1, 0) : tried.index(place) + 2]:
            if other != place:
                between = math.sqrt(place * other)
                means[between] = scores.of(between, range(seeds)).mean()
    chosen = max(means, key=means.__getitem__)
    gain = (0.0, 0.0, 0.0)
    if chosen != 1:
        fresh = range(seeds, seeds + fresh_seeds)
        gain = _interval(scores.of(chosen, fresh) - scores.of(1.0, fresh))
    return Choice(chosen, scores.curve(range(seeds)), gain, which)


class _Scores:
    """Scores by factor and seed, each computed once."""

    def __init__(self, run: Callable[[float, int], float]) -> None:
        self._run = run
        self._known: dict[tuple[float, int], float] = {}

    @property
    def factors(self) -> set[float]:
        return {factor for factor, _ in self._known}

    def of(self, factor: float, seeds: Sequence[int]) -> np.ndarray:
        for seed in seeds:
            if (factor, seed) not in self._known:
                value = float(self._run(factor, seed))
                if not math.isfinite(value):
                    raise UserError(f"score must be a finite number, got {value} at factor {factor:g}, seed {seed}")
                self._known[factor, seed] = value
        return np.array([self._known[factor, seed] for seed in seeds])

    def curve(self, seeds: Sequence[int]) -> xr.Dataset:
        """Of the seeds that had a part in choosing."""
        factors = sorted(self.factors)
        scores = [[self._known[factor, seed] for seed in seeds if (factor, seed) in self._known] for factor in factors]
        columns = zip(*[(*_interval(np.array(values)), len(values)) for values in scores], strict=True)
        meanings = {
            "score": "mean score in validation",
            "low": "lower end of the 95 % t interval of the mean over seeds",
            "high": "upper end of the 95 % t interval of the mean over seeds",
            "seeds": "seeds that the factor was tried with",
        }
        data = xr.Dataset(
            {name: ("factor", np.array(column)) for name, column in zip(meanings, columns, strict=True)},
            coords={"factor": factors},
        )
        for name, meaning in {**meanings, "factor": "factor on the weights before finetuning"}.items():
            data[name].attrs = {"long_name": meaning, "units": "1"}
        return data


def _interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean and 95 % t interval."""
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(len(values))
    reach = error * stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)
    return float(mean), float(mean - reach), float(mean + reach)
