"""A map of one family: what pretraining gains over training from scratch, by samples and similarity of the tasks, with
what a theory predicts."""

import numpy as np
import pandas as pd

from carryover.claims.support import predictions
from carryover.claims.support.transferability import paired
from carryover.labels import described, label
from carryover.runs import conditions, where

SIMILARITIES = {
    "value": lambda value: value,
    "angle": lambda value: np.cos(np.pi * value),
    "chord": lambda value: 1 - value**2 / 2,
    "lost": lambda value: 1 - value,
    "saved": lambda value: 1 - 10.0**-value,
}
ROUNDING = 9  # digits to which similarities are the same, and gains nothing
SAME = ["setting", "row", "samples", "seed", "draw"]
"""Coordinates that a run of another protocol on the same samples has in common."""
COORDINATES = {
    "protocol": "how what was pretrained is transferred",
    "setting": "value of the coordinate of which each value has a map of its own",
    "row": "row of the map, from the least similar tasks",
    "samples": "samples of the target",
    "seed": "seed",
    "draw": "draw of samples",
}
MEANINGS = COORDINATES | {
    "gain": "log10 of the risk from scratch over that of the transferred run",
    "samples_per_parameter": "samples of the target by its parameters",
    "similarity": "similarity of source and target",
    "predicted": "what a theory says of the gain, or of the ratio of what stands for the risks",
    "probe_gain": "gain of the readout alone on the pretrained features, on the same samples",
    "divergence": "Kullback-Leibler divergence of the target's data from the source's",
    "wasserstein": "Wasserstein-1 distance of the target's data from the source's",
    "target_alignment": "alignment of the kernel of the pretrained features with the target",
    "probe_r_squared": "R² of a readout of the pretrained features on as many samples, each predicted from the others",
    "participation_ratio_start": "participation ratio of the pretrained features",
}
FEATURES = ("target_alignment", "probe_r_squared", "participation_ratio_start")
"""What the role `features` may have of these."""


def compare(data, p):
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
    rows = _with_probe(rows)
    ratio = "log10 of the ratio from scratch to pretrained of: "
    known = MEANINGS | {f"ratio_{name}": f"{ratio}{name.replace('_', ' ')}" for name in p.candidates}
    variables = {name: ("pair", rows[name].to_numpy(), meaning) for name, meaning in known.items() if name in rows}
    result = described(variables, {"pair": (np.arange(len(rows)), "a transferred run and that from scratch")})
    names = ("family", "shown", "similarity_is", "parameters_are", "theory_is")
    about = {name: getattr(p, name) for name in names}
    about["setting"] = label(data["risk"], p.setting).replace("_", " ") if p.setting else ""
    return result.set_coords(list(COORDINATES)).assign_attrs({f"map_{name}": value for name, value in about.items()})


def _rows(data, protocol, p):
    """The pairs of one protocol as a data frame, with all coordinates of the transferred runs."""
    risk = data["risk"]
    runs = where(risk, protocol=protocol)
    for name, value in conditions(p.only).items():
        values = runs[name].values if name in runs.coords else np.array([""])
        if ((values == values) & (values != "")).any():
            runs = where(runs, **{name: value})
    frame, _ = paired(runs, protocol, "risk_final", risk)
    gain = np.log10(frame["scratch"].clip(lower=p.floor) / frame["risk_final"].clip(lower=p.floor))
    frame["gain"] = gain.round(ROUNDING)
    frame["samples_per_parameter"] = frame["samples"] / (p.parameters * (frame[p.times] if p.times else 1))
    frame["setting"] = frame[p.setting].astype(float) if p.setting else p.shown
    frame["draw"] = frame.get("draw", 0)
    for name in p.candidates:
        frame[f"ratio_{name}"] = predictions.ratio(frame, data.get("beforehand", risk), protocol, name)
    values = frame[f"ratio_{p.similarity}" if p.similarity in p.candidates else p.similarity]
    if not pd.api.types.is_numeric_dtype(values):  # a list of numbers in words
        values = values.map(lambda text: np.mean([float(word) for word in text.split()]))
    frame["similarity"] = SIMILARITIES[p.similarity_of](values.to_numpy(float))
    frame["predicted"] = _predicted(frame, data.get("theory", risk), risk, protocol, p)
    if p.theory == "linear_transfer":
        frame = frame.assign(**predictions.of_linear_teachers(frame))
    if "features" in data:
        for name in [name for name in FEATURES if name in data["features"]]:
            frame[name] = predictions.value(frame, data["features"], protocol, name).round(ROUNDING)
    return frame


def _predicted(frame, source, risk, protocol, p):
    match p.theory:
        case "curve":
            return predictions.curve(frame, source, protocol, p.floor)
        case "ratio":
            return predictions.ratio(frame, source, protocol, p.ratio, p.against)
        case "linear_transfer":
            return predictions.linear_transfer(frame, protocol, p.floor)
        case "power_law":
            return predictions.power_law_against_floor(frame, source, risk)
    return np.nan


def _with_probe(rows):
    """With the gain of the readout alone on the same samples, for finetuned runs."""
    alone = rows[rows["protocol"] != "finetuning"]
    if alone.empty or len(alone) == len(rows):
        return rows
    found = rows[SAME].merge(alone[[*SAME, "gain"]], on=SAME, how="left")["gain"].to_numpy()
    return rows.assign(probe_gain=np.where(rows["protocol"] == "finetuning", found, np.nan))
