"""Transfers of one family: what was forecast of each before training, and what training then gave."""

import numpy as np
import pandas as pd
from pydantic import PositiveFloat

from carryover.analysis.run_tables import match_runs
from carryover.analysis.transferability import pair_runs
from carryover.claims.comparisons.atlas import log_ratio
from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.labels import make_dataset
from carryover.measures.forecast import CLASSIFIER_MEANING, MEANING
from carryover.runs import select_runs
from carryover.streams import generator

SAME = 1e-6  # gains up to it are none: where nothing differs, rounding is as large
VARIABLES = {
    "gain": "log10 of the risk from scratch over that of the transferred run",
    "predicted": "forecast of the gain",
    "low": "lower end of its interval",
    "high": "upper end of its interval",
    "fitted": "the same forecast, if samples are fitted without a penalty",
    "score": "1 − risk of the transferred run, with the noise of labels, over the variance of its targets",
    "forecast": "forecast of that score",
    "forecast_low": "lower end of its interval",
    "forecast_high": "upper end of its interval",
    "half": "0 of settings that choose thresholds, 1 of those that are reported",
} | {name: text for name, text in (MEANING | CLASSIFIER_MEANING).items() if name.startswith("score_")}


COORDINATES = {
    "protocol": "how it is transferred",
    "setting": "coordinates of the setting",
    "seed": "seed",
    "samples": "samples of the target",
}


class Forecasts(Model):
    """How the runs of a family are compared."""

    family: str = parameter("networks", "what the networks are, in titles")
    floor: PositiveFloat = parameter(1e-8, "risks below it count as this: training stops there")
    squared: bool = parameter(True, "whether the risk is a squared error, as that of the forecast is")


@plugins.comparison(data=["risk", "forecast"])
def forecasts(data, p: Forecasts):
    """A dataset over `transfer`, of the transferred runs that have a forecast and whose gain is not 0.

    Roles: `risk` of transferred runs and of those from scratch; `forecast` of the transferred runs, made before their
    training. A setting is what runs have in common that differ only in seed, draw and number of samples. A random half
    of the settings of a protocol is reported; the other half chooses thresholds.
    """
    frames = []
    for protocol in np.unique(data["forecast"]["protocol"].values):
        runs = select_runs(data["risk"][["risk_final"]], protocol=protocol)
        own = select_runs(data["forecast"], protocol=protocol)
        frame = pair_runs(data["risk"], protocol, "risk_final")
        for name in own.data_vars:
            frame[name] = match_runs(runs, own[[name]], [], "")[f"{name}_other"].to_numpy()
        # The variables of the measure `forecast` for this protocol, by the names in `VARIABLES`.
        arm = "finetune" if protocol == "finetuning" else "probe"
        for name, of in {"predicted": "_gain", "low": "_gain_low", "high": "_gain_high", "fitted": "_gain_fitted",
                         "forecast": "", "forecast_low": "_low", "forecast_high": "_high"}.items():  # fmt: skip
            frame[name] = frame[f"forecast_{arm}{of}"]
        coordinates = sorted(set(runs.coords) - {"seed", "draw", "samples", "gamma", "output", "run"})
        parts = [frame[name].map(lambda value, name=name: f"{name} {value}") for name in coordinates]
        frame["setting"] = parts[0].str.cat(parts[1:], sep=", ")
        frame["gain"] = log_ratio(frame["scratch"], frame["risk_final"], p.floor)
        frame["score"] = _score(frame) if p.squared else np.nan
        settings = np.unique(frame["setting"])
        order = generator("forecast", f"{p.family}, {protocol}", 0, "halves").permutation(len(settings))
        frame["half"] = frame["setting"].map(dict(zip(settings, order % 2, strict=True)))
        frames.append(frame[frame["predicted"].notna() & (frame["gain"].abs() > SAME)])
    table = pd.concat(frames, ignore_index=True)
    meaning = {name: text for name, text in (VARIABLES | COORDINATES).items() if name in table}
    variables = {name: ("transfer", table[name].to_numpy(), text) for name, text in meaning.items()}
    result = make_dataset(variables, {"transfer": (np.arange(len(table)), "a transferred run and that from scratch")})
    return result.set_coords([*COORDINATES]).assign_attrs(forecast_family=p.family)


def _score(frame):
    """1 − (risk + σ²) / Var y (rows,), with the noise σ of labels and the variance over all samples of a setting and
    seed: that of a run's own samples is part of its forecast, whose interval allows for it."""
    noise = np.nan_to_num(frame["noise"].to_numpy(float)) if "noise" in frame else 0.0
    groups = [frame["setting"], frame["seed"]]
    sums = (frame["forecast_variance"] * frame["samples"]).groupby(groups).transform("sum")
    return 1 - (frame["risk_final"] + noise**2) / (sums / frame["samples"].groupby(groups).transform("sum"))
