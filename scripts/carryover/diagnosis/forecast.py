"""Whether pretraining will help a task, before any training.

from carryover import forecast
print(forecast(model, loader).headline)

Labelled samples are predicted, each from all others, by regressions that stand for what could be trained: a readout of
the pretrained features (probe), the network with the kernel of its gradients (finetune), networks with weights drawn
anew (scratch), and that with rescaled weights (rescale).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats
from torch import Tensor, nn

from carryover.diagnosis.arms import views_of_activations, views_of_network
from carryover.diagnosis.modules import Call, call_network
from carryover.diagnosis.tangent import Views
from carryover.diagnosis.task import Targets
from carryover.errors import UserError
from carryover.statistics.held_out import LEAST, HeldOut, compare_errors, predict_held_out

ARMS = ("probe", "finetune", "scratch", "rescale")
"""What can be trained, the cheaper of two pretrained ones first."""
UNDECIDED = "undecided"
_ROUNDING = 1e-9  # of predictions of classes, which are 0 or 1
# Change of the weights, relative to their size, from which a kernel does not stand for training from rescaled weights:
# rescaling is done for the sake of what features would become.
_MOVED = 0.5
MEANING = {
    "score": "forecast of the held-out score: accuracy of classes, or R² of numbers",
    "score_low": "lower end of the interval of the score",
    "score_high": "upper end of the interval of the score",
    "gain": "log10 of the mean squared held-out error from scratch over that of the arm",
    "gain_low": "lower end of the interval of the gain",
    "gain_high": "upper end of the interval of the gain",
    "movement": "norm of the change of weights below the features that the regression stands for, over their norm",
    "reason": "why there is no forecast",
}


class Forecast(xr.Dataset):
    """What `forecast` returns, an xarray dataset by arm with a headline; attributes say what to choose."""

    __slots__ = ()

    @property
    def headline(self) -> str:
        """'Choose finetune. Forecast of the held-out accuracy from 500 samples: probe 0.91 [0.88, 0.94], …'"""
        table = self.to_dataframe()
        scores = [f"{name} {row['score']:.2f} [{row['score_low']:.2f}, {row['score_high']:.2f}]"
                  for name, row in table.iterrows() if not row["reason"]]  # fmt: skip
        reasons = [f" No forecast of {name}: {row['reason']}." for name, row in table.iterrows() if row["reason"]]
        about = f"Forecast of the held-out {self.attrs['measure']} from {self.attrs['samples']} samples"
        return f"{self.attrs['advice']} {about}: {', '.join(scores) or 'none'}.{''.join(reasons)}"


def forecast(
    model: nn.Module | Mapping[str, Any] | str | Path,
    loader: Iterable[Any] | Tensor | None = None,
    arms: Sequence[str] = ARMS,
    *,
    labels: Any = "loader",
    layer: str | None = None,
    baseline: Any = "reinitialised",
    factor: float = 0.5,
    samples: int = 500,
    seed: int = 0,
    confidence: float = 0.95,
    call: Call = call_network,
) -> Forecast:
    """Forecast the held-out score of each way to use a pretrained network, from labelled samples, without training.

    Each sample goes forward and backward by itself through the pretrained network, five with weights drawn anew, and
    the rescaled one. Intervals of the arm scratch are of one more such network, the one that would be trained.

    Parameters
    ----------
    model
        The pretrained network; or activations, as `diagnose` takes them, of which only readouts can be forecast.
    loader
        Batches with labels, as `compare` takes them. Samples that it repeats count once.
    arms
        probe, a readout on fixed features; finetune, all weights and a new readout; scratch, the same from weights
        drawn anew; rescale, finetuning after all pretrained weights but those of normalisation are multiplied.
    labels
        "loader", or (samples,) classes, or (samples,) or (samples, targets) numbers.
    layer
        The layer whose inputs are the features, if it is linear, or else whose outputs are. By default the last linear
        layer, which a new readout replaces; of a network without one its outputs. Of activations, the layer itself.
    baseline
        "reinitialised": `model` with its parameters drawn anew; or a network made anew, or activations of one, or a
        list of them; with one alone intervals leave out how others would differ. None: no forecast of `scratch`.
    factor
        The factor on weights of `rescale`.
    samples
        How many are taken, the first of the loader.
    seed
        Of weights drawn anew, random readouts, and projections of gradients.
    confidence
        Of the intervals.
    call
        call(network, batch) returns the network's output, for batches of other kinds.

    Returns
    -------
    Forecast
        The variables of `MEANING`, (arm,), NaN with a reason where an arm has no forecast. Its attribute `choice` is
        the arm to choose, or "undecided"; `more_samples` is how many more labelled samples would decide.

    Raises
    ------
    UserError
        A ValueError, for batches without labels, fewer than ten different samples, one class, a model without
        parameters or one that cannot be drawn anew, and for what would take more memory than 4 GiB.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> features, unrelated = rng.standard_normal((2, 200, 20))
    >>> result = forecast({"top": features}, labels=features[:, 0] + 0.1 * rng.standard_normal(200),
    ...                   baseline={"top": unrelated}, arms=["probe", "scratch"])
    >>> result.attrs["choice"], bool(result["score"].sel(arm="probe") > 0.9)
    ('probe', True)
    """
    arms = _check(arms, layer, samples, factor, seed, confidence, call)
    reasons: dict[str, str] = {}
    if isinstance(model, nn.Module):
        views, targets = views_of_network(model, loader, arms, labels, layer, baseline, factor, samples, seed, call)
    elif loader is not None or callable(model):
        raise UserError(f"model must be a torch module, or activations without a loader, got {type(model).__name__}")
    else:
        views, targets = views_of_activations(model, labels, baseline, layer, samples)
        reasons |= dict.fromkeys(("finetune", "rescale"), "activations have no gradients: give the network")
    if "scratch" not in views:
        reasons["scratch"] = "there is no baseline"
    return _forecast_arms(arms, views, targets, reasons, confidence)


def _forecast_arms(
    arms: Sequence[str], views: Mapping[str, list[Views]], targets: Targets, reasons: dict[str, str], confidence: float
) -> Forecast:
    """The forecast from `views` {arm: features and gradients of each of its networks}.

    `reasons` {arm: why it has no forecast} gains an entry for `rescale` if a kernel cannot describe its training.
    """
    held = {name: [predict_held_out(one.kernels, targets.targets) for one in views[name]]
            for name in arms if name in views}  # fmt: skip
    movement = {name: float(np.mean([_movement(*pair) for pair in zip(views[name], found, strict=True)]))
                for name, found in held.items()}  # fmt: skip
    if movement.get("rescale", 0) > _MOVED:
        moved = f"weights would move by {movement['rescale']:.1f} times their size"
        reasons["rescale"] = f"{moved}, and a kernel does not see how features change: search with choose_factor"
    return summarise_arms(arms, held, targets, reasons, movement, confidence)


def _check(arms: Any, layer: Any, samples: Any, factor: Any, seed: Any, confidence: Any, call: Any) -> list[str]:
    """The arms, each once; UserError for arms that are none, for numbers out of range, and for what is no number."""
    if isinstance(arms, str) or not isinstance(arms, Iterable) or not (names := [*dict.fromkeys(map(str, arms))]):
        raise UserError(f"arms must be some of {', '.join(ARMS)}, got {arms!r}")
    if not {*names} <= {*ARMS}:
        raise UserError(f"arms must be some of {', '.join(ARMS)}, got {', '.join(names)}")
    if not isinstance(samples, int | np.integer) or samples < LEAST:
        raise UserError(f"samples must be a whole number from {LEAST}, got {samples!r}")
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**30:
        raise UserError(f"seed must be a whole number from 0 to {2**30 - 1}, got {seed!r}")
    for name, value, highest in (("factor", factor, np.inf), ("confidence", confidence, 1)):
        if not isinstance(value, int | float | np.number) or not 0 < value < highest:
            raise UserError(f"{name} must be a number between 0 and {highest:g}, got {value!r}".replace("inf", "∞"))
    if not isinstance(layer, str | None):
        raise UserError(f"layer must be the name of a layer or None, got {layer!r}")
    if not callable(call):
        raise UserError(f"call must be a function of a network and a batch, got {call!r}")
    return names


def summarise_arms(
    arms: Sequence[str], held: Mapping[str, Sequence[HeldOut]], targets: Targets, reasons: Mapping[str, str],
    movement: Mapping[str, float], confidence: float,
) -> Forecast:  # fmt: skip
    """The forecast with the scores of all arms, their gains over training from scratch, and the arm to choose.

    held : {arm: held-out predictions of each of its networks}
    reasons : {arm: why it has no forecast}; its variables are NaN, whether `held` has it or not
    movement : {arm: relative change of weights, the variable `movement`}
    """
    known = {name: found for name, found in held.items() if name not in reasons}
    errors = {name: [one.errors for one in found] for name, found in known.items()}
    values = {name: dict.fromkeys(MEANING, np.nan) | {"reason": reasons.get(name, "")} for name in arms}
    for name, found in known.items():
        ends = _score(found, targets, confidence)
        values[name] |= dict(zip(("score", "score_low", "score_high"), ends, strict=True))
        values[name]["movement"] = movement.get(name, np.nan)
        if "scratch" in errors and name != "scratch":
            gain = compare_errors(errors["scratch"], errors[name], confidence)
            values[name] |= {"gain": gain.value, "gain_low": gain.low, "gain_high": gain.high}
    variables = {key: ("arm", [row[key] for row in values.values()], {"long_name": text, "units": "1"})
                 for key, text in MEANING.items()}  # fmt: skip
    fitted = {name: float(np.mean([one.fitted for one in found])) for name, found in known.items()}
    choice, advice, more = _choose(errors, fitted, confidence)
    about = {"choice": choice, "advice": advice, "more_samples": more, "samples": len(targets.targets),
             "measure": "accuracy" if targets.classes else "R²", "confidence": confidence}  # fmt: skip
    return Forecast(variables, {"arm": ("arm", list(arms), {"long_name": "what is trained", "units": "1"})}, about)


def _movement(view: Views, found: HeldOut) -> float:
    """√(tr αᵀKα) / ‖θ‖ with the duals α and the gradients' kernel K: the change of weights with which the linearised
    network is the regression. 0 where the features' kernel was taken, NaN without gradients."""
    if view.gradients is None:
        return np.nan
    square = np.einsum("ir,ij,jr->", found.duals, view.gradients, found.duals) if found.kernel else 0.0
    return float(np.sqrt(max(square, 0.0)) / view.norm)


def _score(found: Sequence[HeldOut], targets: Targets, confidence: float) -> tuple[float, float, float]:
    """The held-out score with the ends of its interval, mean over networks."""
    if targets.classes:  # Wilson's interval
        truth, samples = targets.targets.argmax(axis=1), len(targets.targets)
        hits = np.mean([_share_right(one.predictions, truth) for one in found])
        ends = stats.binomtest(round(hits * samples), samples).proportion_ci(confidence, "wilson")
        return float(hits), ends.low, ends.high
    # A mean without the sample itself is off by n/(n − 1) times as much: with it R² is 0 where nothing is learnt.
    count = len(targets.targets)
    spread = ((targets.targets - targets.targets.mean(axis=0)) ** 2).sum(axis=1) * (count / (count - 1)) ** 2
    ratio = compare_errors([one.errors for one in found], [spread], confidence)
    return 1 - 10**ratio.value, 1 - 10**ratio.high, 1 - 10**ratio.low


def _share_right(predictions: np.ndarray, truth: np.ndarray) -> float:
    """Share of the samples whose class (n,) has the largest prediction (n, r); equal ones, to rounding, share it."""
    largest = predictions >= predictions.max(axis=1, keepdims=True) - _ROUNDING
    return float((largest[np.arange(len(truth)), truth] / largest.sum(axis=1)).mean())


def _choose(
    errors: Mapping[str, Sequence[np.ndarray]], fitted: Mapping[str, float], confidence: float
) -> tuple[str, str, float]:
    """(choice, advice, samples): the arm to choose or "undecided", a sentence, and how many more samples would decide.

    The choice is the arm of the least error, or a cheaper pretrained arm that might be as good. It is "undecided" if a
    pretrained arm and training from scratch are too close: the interval of their difference includes 0, or one is
    better by cross-validated regression and the other if training goes on until all samples are fitted.

    Parameters
    ----------
    errors : {arm: squared held-out errors (samples,) of each of its networks}
    fitted : {arm: mean held-out error of regression without a penalty}
    """
    order = [name for name in ARMS if name in errors]  # the cheaper of two pretrained arms first
    if len(order) < 2:
        return UNDECIDED, "Undecided: fewer than two arms have a forecast.", np.nan
    best = min(order, key=lambda name: np.mean(errors[name]))
    excess = {name: compare_errors(errors[name], errors[best], confidence) for name in order if name != best}
    # What must be decided is only between pretrained arms and training from scratch.
    opponents = [name for name in excess if "scratch" in (name, best)]
    if rivals := {name: excess[name].more_samples for name in opponents if excess[name].low <= 0}:
        more = max(max(rivals.values()), 1.0)
        about = f"about {float(f'{more:.1g}'):,.0f} more" if more < 1e5 else "not even 100,000 more"
        would = f"Undecided between {best} and {' or '.join(rivals)}: {about} labelled samples would decide."
        return UNDECIDED, would, more
    if later := [name for name in opponents if fitted[name] <= fitted[best]]:
        return UNDECIDED, f"Undecided: {best} wins if training stops early, {later[0]} if it fits all samples.", np.nan

    def might_be_best(name: str) -> bool:
        """Whether a pretrained arm may be as good as the best one and beats training from scratch by both criteria."""
        beats = "scratch" not in errors or (
            compare_errors(errors["scratch"], errors[name], confidence).low > 0 and fitted[name] < fitted["scratch"]
        )
        return name not in opponents and excess[name].low <= 0 and beats

    choice = next(name for name in order if name == best or might_be_best(name))
    return choice, f"Choose {choice}.", 0.0
