"""A map of one family: what pretraining gains over training from scratch, by samples and similarity of the tasks, with
what a theory predicts.

Gains and predictions are log₁₀ of a ratio of risks, or of what stands for them; positive where pretraining helps.
"""

from functools import cache
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import PositiveFloat

from carryover.analysis.mean_field import at_longest
from carryover.analysis.run_tables import match_runs
from carryover.analysis.transferability import FITTED, at_rows, from_scratch, pair_runs
from carryover.config import plugins
from carryover.config.parameters import Condition, Model, parameter
from carryover.labels import label, make_dataset
from carryover.runs import conditions, select_runs
from carryover.statistics import power_law
from carryover.streams import generator
from carryover.theory import discrepancy, transfer

SIMILARITIES = {
    "value": lambda value: value,
    "angle": lambda value: np.cos(np.pi * value),
    "chord": lambda value: 1 - value**2 / 2,
    "lost": lambda value: 1 - value,
    "saved": lambda value: 1 - 10.0**-value,
}
ROUNDING = 9  # digits to which similarities are the same, and gains nothing
SOURCE = np.array([1.0, 0.0])  # of linear tasks, in the plane of source and target
POINTS = 150  # of each task, between which distances are found
COORDINATES = {
    "protocol": "how what was pretrained is transferred",
    "setting": "value of the coordinate of which each value has a map of its own",
    "row": "row of the map, from the least similar tasks",
    "samples": "samples of the target",
    "seed": "seed",
    "draw": "draw of samples",
}
FEATURES = {
    "target_alignment": "alignment of the kernel of the pretrained features with the target",
    "probe_r_squared": "R² of a readout of the pretrained features on as many samples, each predicted from the others",
    "participation_ratio_start": "participation ratio of the pretrained features",
}
"""What the role `features` may have."""
MEANINGS = {
    **COORDINATES,
    "gain": "log10 of the risk from scratch over that of the transferred run",
    "log_risk": "log10 of the risk of the transferred run",
    "log_risk_scratch": "log10 of the risk of the run from scratch",
    "samples_per_parameter": "samples of the target by its parameters",
    "similarity": "similarity of source and target",
    "predicted": "what a theory says of the gain, or of the ratio of what stands for the risks",
    "probe_gain": "gain of the readout alone on the pretrained features, on the same samples",
    "divergence": "Kullback-Leibler divergence of the target's data from the source's",
    "wasserstein": "Wasserstein-1 distance of the target's data from the source's",
    **FEATURES,
}


class Atlas(Model):
    """What the map is: its axes, what is compared, and what predicts it."""

    family: str = parameter("networks", "what the networks are, in titles")
    protocols: tuple[str, ...] = parameter(
        ("finetuning",), "what is compared with training from scratch: finetuning, or what trains the readout alone"
    )  # fmt: skip
    only: tuple[Condition, ...] = parameter((), "conditions on transferred runs, as coordinate=value", coordinate=True)
    similarity: str = parameter(
        "overlap", "coordinate, or candidate, that says how similar source and target are; of a list of cosines its "
        "mean")  # fmt: skip
    similarity_of: Literal["value", "angle", "chord", "lost", "saved"] = parameter(
        "value", "how: it is the value itself, the cosine of an angle in units of π (angle) or of the angle over a "
        "chord of the unit circle (chord), 1 less a share that is lost, or 1 less a ratio of which the candidate is "
        "−log₁₀ (saved)")  # fmt: skip
    similarity_is: str = parameter("similarity", "what it is, as text")
    row: str = parameter(
        "", "coordinate that tells the rows of the map apart, where that is not the similarity", coordinate=True
    )
    setting: str = parameter("", "coordinate of which each value has a map of its own", coordinate=True)
    shown: float = parameter(0.0, "the value of it that the atlas shows")
    parameters: PositiveFloat = parameter(1.0, "parameters of the target")
    times: str = parameter("", "coordinate by which they are multiplied", coordinate=True)
    parameters_are: str = parameter("parameter", "what counts as one, as text")
    theory: Literal["none", "curve", "ratio", "linear_transfer", "power_law"] = parameter(
        "none", "what predicts the gain: nothing; a curve of risks; the ratio of what stands for the risk, from "
        "scratch and after pretraining; eqs 8, 10 and 14 of deep linear networks; or the power law of the risk from "
        "scratch over what pretrained features leave out")  # fmt: skip
    theory_is: str = parameter("", "the same in words")
    ratio: str = parameter("", "variable of the role `theory` that stands for the risk")
    against: str = parameter(
        "", "variable that stands for that from scratch, where transferred runs have it themselves")  # fmt: skip
    candidates: tuple[str, ...] = parameter(
        (), "variables of the role `beforehand` of which log₁₀ of the ratio, from scratch over after pretraining, "
        "might predict the gain")  # fmt: skip
    floor: PositiveFloat = parameter(1e-8, "risks below it count as this: training stops there")


@plugins.comparison(data=["risk"], optional=["beforehand", "features", "theory"])
def atlas(data, p: Atlas):
    """Pairs of a transferred run and the run from scratch on the same samples of the same target.

    Roles: `risk` of both kinds of runs; `theory` and `beforehand`, the data of predictions and candidates if these are
    not the same; `features`, properties of the pretrained features. A dataset over `pair`: predictors are NaN where
    nothing is predicted, gains where there is no run from scratch.
    """
    rows = pd.concat([_rows(data, protocol, p) for protocol in p.protocols], ignore_index=True)
    rows["similarity"] = rows["similarity"].round(ROUNDING)
    # The number of each row of its map, from the least mean similarity.
    keys = rows[p.row] if p.row else rows["similarity"]
    mean = rows.groupby([rows["setting"], keys])["similarity"].transform("mean").round(ROUNDING)
    rows["row"] = mean.groupby(rows["setting"]).rank(method="dense").astype(int) - 1
    # The gain of a readout alone is a predictor for the finetuned run in the same cell.
    tuned = rows["protocol"] == "finetuning"
    if tuned.any() and not tuned.all():
        probes = rows[~tuned].assign(protocol="finetuning").rename(columns={"gain": "probe_gain"})
        rows = rows.merge(probes[[*COORDINATES, "probe_gain"]], on=list(COORDINATES), how="left")
    ratio = "log10 of the ratio from scratch to pretrained of: "
    known = MEANINGS | {f"ratio_{name}": f"{ratio}{name.replace('_', ' ')}" for name in p.candidates}
    variables = {name: ("pair", rows[name].to_numpy(), meaning) for name, meaning in known.items() if name in rows}
    result = make_dataset(variables, {"pair": (np.arange(len(rows)), "a transferred run and that from scratch")})
    about = {name: getattr(p, name) for name in ("family", "shown", "similarity_is", "parameters_are", "theory_is")}
    about["setting"] = label(data["risk"], p.setting).replace("_", " ") if p.setting else ""
    return result.set_coords(list(COORDINATES)).assign_attrs({f"map_{name}": value for name, value in about.items()})


def _rows(data, protocol, p):
    """The pairs of one protocol as a data frame, a row for each transferred run: its coordinates, gain, and predictors.
    `data` and `p` are those of `atlas`."""
    risk = data["risk"]
    runs = select_runs(risk[["risk_final"]], protocol=protocol, **conditions(p.only))
    frame = pair_runs(runs, protocol, "risk_final", risk)
    frame["gain"] = log_ratio(frame["scratch"], frame["risk_final"], p.floor).round(ROUNDING)
    for name, column in (("log_risk", "risk_final"), ("log_risk_scratch", "scratch")):
        frame[name] = np.log10(np.maximum(frame[column], p.floor))
    frame["samples_per_parameter"] = frame["samples"] / (p.parameters * (frame[p.times] if p.times else 1))
    frame["setting"] = frame[p.setting].astype(float) if p.setting else p.shown
    frame["draw"] = frame.get("draw", 0)
    for name in p.candidates:
        frame[f"ratio_{name}"] = ratio(runs, data.get("beforehand", risk), protocol, name)
    values = frame[f"ratio_{p.similarity}" if p.similarity in p.candidates else p.similarity]
    if not pd.api.types.is_numeric_dtype(values):  # text with a list of numbers
        values = values.map(lambda text: np.mean([float(word) for word in text.split()]))
    frame["similarity"] = SIMILARITIES[p.similarity_of](values.to_numpy(float))
    frame["predicted"] = np.nan
    source = data.get("theory", risk)
    match p.theory:
        case "curve":
            frame["predicted"] = curve(frame, source, protocol, p.floor)
        case "ratio":
            frame["predicted"] = ratio(runs, source, protocol, p.ratio, p.against)
        case "linear_transfer":
            frame = frame.assign(predicted=linear_transfer(frame, protocol, p.floor), **of_linear_teachers(frame))
        case "power_law":
            frame["predicted"] = power_law_against_floor(runs, source, risk)
    if "features" in data and protocol in data["features"]["protocol"].values:
        features = select_runs(data["features"], protocol=protocol)
        for name in [name for name in FEATURES if name in features]:
            frame[name] = _of_runs(runs, features[name]).round(ROUNDING)
    return frame


def log_ratio(scratch, transferred, floor=0.0):
    """log₁₀ of the ratio of two risks, or of what stands for them; those below the floor count as the floor."""
    scratch, transferred = np.maximum(scratch, floor), np.maximum(transferred, floor)
    with np.errstate(invalid="ignore"):  # ∞ / ∞
        return np.where(scratch == transferred, 0.0, np.log10(scratch / transferred))


def ratio(runs, source, protocol, quantity, against=""):
    """(run,) `log_ratio` of a quantity of `source`, of the run from scratch to the transferred run; with `against`, of
    that variable to the quantity, both of the transferred run. `runs` and `source` are datasets over `run`; NaN where
    `source` has no run of the protocol at the coordinates of a run."""
    if protocol not in source["protocol"].values:
        return np.full(runs.sizes["run"], np.nan)
    others = select_runs(source, protocol=protocol)
    scratch = others[against] if against else pair_runs(source, protocol, quantity)["scratch"]
    return _of_runs(runs, others[quantity].copy(data=log_ratio(scratch, others[quantity])))


def _of_runs(runs, values, ignored=()):
    """Values by run of another dataset at the coordinates of `runs`, except the ignored ones; NaN where it has none."""
    return match_runs(runs, values.to_dataset(name="value"), ignored)["value_other"].to_numpy()


def curve(frame, source, protocol, floor):
    """(rows of `frame`,) the gain in theory: `log_ratio` of the risk from scratch over that of the protocol.

    `source` is a dataset of theory curves whose variables are risks, named after protocols: `single_task` from scratch.
    The gain is NaN if it has no variable for this protocol. Risks below `floor` count as `floor`.
    """
    if protocol not in source:
        return np.full(len(frame), np.nan)
    return log_ratio(at_rows(source["single_task"], frame), at_rows(source[protocol], frame), floor)


def linear_transfer(frame, protocol, floor):
    """(rows of the frame,) `log_ratio` of deep linear networks: "Features are fate", eqs 8 and 10, and eq 14 with the
    norm factor of eq 5 of "Finetuning with linear teachers"; 0 where both are infinite."""
    gamma, noise, norm = (frame[name].to_numpy(float) for name in ("gamma", "noise", "target_norm"))
    theta, depth = np.pi * frame["angle"].to_numpy(float), frame["depth"].to_numpy()
    scratch = norm**2 * transfer.scratch_risk(gamma, noise / norm)
    if protocol == "finetuning":
        transferred = transfer.finetune_risk(gamma, theta, noise, depth, target_norm=norm)
    else:
        transferred = norm**2 * transfer.linear_transfer_risk(theta, noise / norm, frame["samples"].to_numpy())
    return log_ratio(scratch, transferred, floor)


def of_linear_teachers(frame):
    """{name: (rows of the frame,)} of deep linear networks, whose one feature is the source's direction.

    `divergence` and `wasserstein`: distances of the target's data from the source's; `target_alignment`: cos² of the
    angle of feature and target; `probe_r_squared`: the share of the variance of a sample's label that a readout fitted
    to the other samples explains ("Features are fate", eq 10).
    """
    theta = np.pi * frame["angle"].to_numpy(float)
    norm, noise = (frame[name].to_numpy(float) for name in ("target_norm", "noise"))
    missed = transfer.linear_transfer_risk(theta, noise / norm, np.maximum(frame["samples"].to_numpy() - 1, 1))

    @cache
    def distances(angle, norm, noise):  # many rows share a task
        target = norm * np.array([np.cos(angle), np.sin(angle)])
        rng = generator("atlas", "", 0, "inputs")  # the same draws for all tasks: only these differ
        wasserstein = discrepancy.wasserstein1(SOURCE, target, noise, POINTS, rng)
        return discrepancy.kl_divergence(SOURCE, target, noise), wasserstein

    divergence, wasserstein = np.transpose([distances(*task) for task in zip(theta, norm, noise, strict=True)])
    return {
        "divergence": divergence,
        "wasserstein": wasserstein,
        "target_alignment": np.cos(theta) ** 2,
        "probe_r_squared": 1 - (norm**2 * missed + noise**2) / (norm**2 + noise**2),
    }


def power_law_against_floor(runs, outside, risk):
    """Of mean-field networks: the power law of the risk from scratch, fitted over all seeds at the longest time, over
    the least risk of the pretrained features ("Features are fate", eq 18 without its second term). (run,) log₁₀ of the
    ratio; `runs` are of linear transfer, `outside` holds `least_risk`, `risk` the runs from scratch."""
    expected = np.full(runs.sizes["run"], np.nan)
    for scale in np.unique(runs["teacher_scale"]):
        scratch = at_longest(select_runs(risk, teacher_scale=scale, protocol="single_task"))
        law = power_law.fit(from_scratch(scratch), FITTED)
        at_scale = runs["teacher_scale"] == scale
        expected[at_scale] = law(runs["samples"][at_scale])
    # Coordinates of finetuning alone: the features are those before it.
    of_finetuning = ("protocol", "solver", "samples", "draw")
    return log_ratio(expected, _of_runs(runs, outside["least_risk"], of_finetuning))
