"""Whether pretraining will help a task, before any training.

from carryover import forecast
print(forecast(model, loader).headline)

Labelled samples are predicted, each from all others, by regressions that stand for what could be trained: a readout of
the pretrained features (probe), the network with the kernel of its gradients (finetune), networks with weights drawn
anew (scratch), and that with rescaled weights (rescale).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from scipy import stats
from torch import Tensor, nn

from carryover.diagnosis.comparison import LARGEST, RENEWING, sample_keys
from carryover.diagnosis.modules import (
    LABELS,
    Call,
    bare,
    batches,
    call_network,
    ready,
    restore_random_state,
    split_batch,
    submodules,
    tensors,
)
from carryover.diagnosis.networks import reinitialise, renew_statistics
from carryover.diagnosis.sources import as_array, common_samples, open_source
from carryover.diagnosis.tangent import SKETCH, Views, look_at, single_samples
from carryover.diagnosis.task import Targets
from carryover.errors import UserError
from carryover.networks.convnet_weights import rescaled_parameter_names
from carryover.statistics.held_out import LEAST, HeldOut, compare_errors, predict_held_out

ARMS = ("probe", "finetune", "scratch", "rescale")
"""What can be trained, the cheaper of two pretrained ones first."""
UNDECIDED = "undecided"
_REINITIALISATIONS = 2
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

    Each sample goes forward and backward by itself through the pretrained network, two with weights drawn anew, and the
    rescaled one.

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
        "reinitialised": `model` with its parameters drawn anew; or a network made anew; or activations of one. None
        leaves `scratch` without a forecast.
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
    arms = _check(arms, samples, factor, seed, confidence, call)
    reasons: dict[str, str] = {}
    if isinstance(model, nn.Module):
        ready("model", model)
        singles, first, targets = _load(model, loader, labels, samples, call)
        linear = [name for name, part in submodules(model).items() if isinstance(bare(part), nn.Linear)]
        where = ["", *linear][-1] if layer is None else layer
        networks = _networks(model, arms, baseline, factor, where, seed, first, call)
        count = sum(one.numel() for one in model.parameters())
        needed = 12 * len(singles) * min(count, SKETCH) + 16 * count + 80 * len(singles) ** 2
        if needed > LARGEST:
            most = f"{needed / 2**30:.1f} GiB, and {LARGEST / 2**30:g} GiB are the most: take fewer samples"
            raise UserError(f"gradients at {len(singles)} samples take {most}")
        views = {name: [look_at(one, singles, call, where, name != "probe", seed) for one in of_arm]
                 for name, of_arm in networks.items() if name != "probe" or "finetune" not in networks}  # fmt: skip
        if {"probe", "finetune"} <= {*arms}:
            views["probe"] = [Views(views["finetune"][0].features)]
    elif loader is not None or callable(model):
        raise UserError(f"model must be a torch module, or activations without a loader, got {type(model).__name__}")
    else:
        views, targets = _of_activations(model, labels, baseline, layer, samples)
        reasons |= dict.fromkeys(("finetune", "rescale"), "activations have no gradients: give the network")
    if "scratch" not in views:
        reasons["scratch"] = "there is no baseline"
    held = {name: [predict_held_out(one.kernels, targets.targets) for one in views[name]]
            for name in arms if name in views}  # fmt: skip
    movement = {name: float(np.mean([_movement(*pair) for pair in zip(views[name], found, strict=True)]))
                for name, found in held.items()}  # fmt: skip
    if movement.get("rescale", 0) > _MOVED:
        reasons["rescale"] = (
            f"weights would move by {movement['rescale']:.1f} times their size, and a kernel does not see how features "
            "change: search with choose_factor"
        )
    return summarise_arms(arms, held, targets, reasons, movement, confidence)


def _check(arms: Any, samples: Any, factor: Any, seed: Any, confidence: Any, call: Any) -> list[str]:
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
    if not callable(call):
        raise UserError(f"call must be a function of a network and a batch, got {call!r}")
    return names


def summarise_arms(
    arms: Sequence[str], held: Mapping[str, Sequence[HeldOut]], targets: Targets, reasons: Mapping[str, str],
    movement: Mapping[str, float], confidence: float,
) -> Forecast:  # fmt: skip
    """The forecast from held-out predictions by arm, each of one network or several.

    `reasons` {arm: why it has no forecast}, `movement` {arm: the variable of that name}.
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


def _load(model: nn.Module, loader: Any, labels: Any, samples: int, call: Call) -> tuple[list[Any], list[Any], Targets]:
    """The first different samples of a loader as batches of one, its first batches, and the targets."""
    singles: dict[int, Any] = {}
    first: list[Any] = []
    found: list[Any] = []  # labels of the batches
    places: list[int] = []  # of the samples among all that were seen
    seen = 0
    with restore_random_state():
        for batch in batches(loader):
            inputs, named, given = split_batch(model, batch, strict=call is call_network)
            seen_inputs = (inputs, {key: one for key, one in named.items() if key not in LABELS})
            tensors_of = [one for one in tensors(seen_inputs).values() if one.ndim]
            if not tensors_of:
                raise UserError("batches must have tensors, of which each row is a sample")
            rows = len(tensors_of[0] if given is None else as_array("labels", given).reshape(np.shape(given) or (1,)))
            if all(len(one) != rows for one in tensors_of):
                sizes = ", ".join(str(len(one)) for one in tensors_of)
                raise UserError(f"batches must have a row of inputs for each label, got {sizes} for {rows}")
            keys = sample_keys(seen_inputs, rows, seen)
            for row, single in enumerate(single_samples(batch, rows)):
                if keys[row] not in singles and len(singles) < samples:
                    singles[keys[row]] = single
                    places.append(seen + row)
            found.append(given)
            first += [batch] * (len(first) < RENEWING)
            seen += rows
            if len(singles) == samples:
                break
        else:
            if not isinstance(labels, str) and np.shape(labels)[:1] != (seen,):
                raise UserError(f"labels must be one for each of {seen} samples, got an array {np.shape(labels)}")
    if isinstance(labels, str):
        if labels != "loader":
            raise UserError(f"labels must be 'loader' or one for each sample, got {labels!r}")
        if not found or any(one is None for one in found):
            raise UserError("loader must give labels: batches (inputs, labels), a mapping with labels, or say labels=")
        labels = np.concatenate([as_array("labels", one).reshape(len(one), -1) for one in found])
    return [*singles.values()], first, _targets(labels, places)


def _targets(labels: Any, places: Sequence[int]) -> Targets:
    """The targets of the samples at these places; UserError for too few samples or labels."""
    labels = as_array("labels", labels)
    if len(places) < LEAST:
        raise UserError(f"a forecast needs {LEAST} different samples or more, got {len(places)}")
    if labels.ndim not in (1, 2) or len(labels) <= max(places):
        raise UserError(f"labels must be one for each of {max(places) + 1} samples, got an array {labels.shape}")
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    return Targets.of(labels[np.asarray(places)], len(places))


def _networks(
    model: nn.Module, arms: Sequence[str], baseline: Any, factor: float, layer: str, seed: int, first: Sequence[Any],
    call: Call,
) -> dict[str, list[nn.Module]]:  # fmt: skip
    """{arm: its networks}: the pretrained one, those with weights drawn anew, and a copy with rescaled weights."""
    if not any(one.numel() for one in model.parameters()):
        raise UserError("model has no parameters: of activations a probe can be forecast")
    if not (baseline in ("reinitialised", None) if baseline is None or isinstance(baseline, str) else
            isinstance(baseline, nn.Module)):  # fmt: skip
        raise UserError(f"baseline must be 'reinitialised', a torch module or None, got {baseline!r:.40}")
    networks: dict[str, list[nn.Module]] = {name: [model] for name in ("probe", "finetune") if name in arms}
    changed: list[nn.Module] = []
    if "scratch" in arms and baseline is not None:
        networks["scratch"] = [baseline]
        if isinstance(baseline, str):
            drawn = [_REINITIALISATIONS * seed + place for place in range(_REINITIALISATIONS)]
            changed = networks["scratch"] = [reinitialise(model, number) for number in drawn]
    if "rescale" in arms:
        try:
            networks["rescale"] = [copy.deepcopy(model)]
        except (RuntimeError, TypeError, AttributeError) as error:
            raise UserError(f"the network cannot be copied ({error}): leave the arm rescale out") from None
        parameters = dict(networks["rescale"][0].named_parameters())
        with torch.no_grad():
            for name in rescaled_parameter_names(parameters, "weights", layer or None):
                parameters[name].mul_(factor)
        changed = [*changed, *networks["rescale"]]
    for network in changed:
        renew_statistics(network, partial(call, network), first)
    return networks


def _of_activations(
    model: Any, labels: Any, baseline: Any, layer: str | None, samples: int
) -> tuple[dict[str, list[Views]], Targets]:
    """Views of recorded activations, and of those of a network with other weights."""
    if labels is None or isinstance(labels, str):
        raise UserError("labels must be given beside activations, one for each sample")
    none = baseline is None or (isinstance(baseline, str) and baseline == "reinitialised")
    given = {"probe": model} | ({} if none else {"scratch": baseline})
    with ExitStack() as stack:
        sources = [stack.enter_context(open_source(source, name)) for name, source in given.items()]
        if layer is None and len(sources[0].layers) > 1:
            raise UserError(f"layer must be one of {', '.join(sources[0].layers)}")
        where = layer or next(iter(sources[0].layers))
        count, ids = common_samples(sources, [where])
        places = np.arange(count) if ids is None else np.sort(np.unique(ids, return_index=True)[1])
        places = places[:samples]
        if np.shape(labels)[:1] != (count,):
            raise UserError(f"labels must be one for each of {count} samples, got an array {np.shape(labels)}")
        targets = _targets(labels, places.tolist())
        features = [source.matrix(where)[places].astype(np.float64) for source in sources]
    return {name: [Views(one)] for name, one in zip(given, features, strict=True)}, targets


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
    """The arm to choose or "undecided", the advice in words, and how many more samples would decide.

    That is the arm of the least error, or a cheaper pretrained one that might be as good. It is undecided where either
    training from scratch or a pretrained arm might be best, by chance or by when training stops: `fitted` {arm: mean
    error of regression without a penalty}.
    """
    order = [name for name in ARMS if name in errors]
    if len(order) < 2:
        return UNDECIDED, "Undecided: fewer than two arms have a forecast.", np.nan
    best = min(order, key=lambda name: np.mean(errors[name]))
    behind = {name: compare_errors(errors[name], errors[best], confidence) for name in order if name != best}
    other = [name for name in behind if "scratch" in (name, best)]
    if rivals := {name: behind[name].more_samples for name in other if behind[name].low <= 0}:
        more = max(max(rivals.values()), 1.0)
        about = f"about {float(f'{more:.1g}'):,.0f} more" if more < 1e5 else "not even 100,000 more"
        would = f"Undecided between {best} and {' or '.join(rivals)}: {about} labelled samples would decide."
        return UNDECIDED, would, more
    if turned := [name for name in other if fitted[name] <= fitted[best]]:
        return UNDECIDED, f"Undecided: {best} wins if training stops early, {turned[0]} if it fits all samples.", np.nan

    def might_be_best(name: str) -> bool:
        """Whether a pretrained arm is as good as the best one, to chance, and beats training from scratch as surely."""
        beats = "scratch" not in errors or (
            compare_errors(errors["scratch"], errors[name], confidence).low > 0 and fitted[name] < fitted["scratch"]
        )
        return name not in other and behind[name].low <= 0 and beats

    choice = next(name for name in order if name == best or might_be_best(name))
    return choice, f"Choose {choice}.", 0.0
