"""What was forecast of runs before they were trained."""

from carryover.config import plugins

SCORES = {
    "logme": "LogME",
    "h_score": "H-score, shrunk",
    "transrate": "TransRate",
    "gbc": "separability of classes (GBC)",
    "parc": "PARC",
    "alignment": "alignment of the kernel with the target",
}
"""{score of a forecast: what it is}; the alignment is `dimensionality.cka` with the target."""
CLASSIFIER_SCORES = {"leep": "LEEP", "nce": "NCE"}
"""The same, of networks that were pretrained as classifiers."""
ARMS = {
    "probe": "readout of the pretrained features",
    "finetune": "finetuned network",
    "scratch": "network from scratch",
}
ENDS = {"": "", "_low": "lower end of: ", "_high": "upper end of: "}
MEANING = (
    {"forecast_variance": "variance of the run's targets at its samples"}
    | {f"forecast_{arm}{end}": f"{words}forecast of the R² of the {what}"
     for arm, what in ARMS.items() for end, words in ENDS.items()}
    | {f"forecast_{arm}_gain{end}": f"{words}forecast of log10 of the error from scratch over that of the {ARMS[arm]}"
       for arm in ("probe", "finetune") for end, words in ENDS.items()}
    | {f"forecast_{arm}_gain_fitted": f"the same of the {ARMS[arm]}, if samples are fitted without a penalty"
       for arm in ("probe", "finetune")}
    | {f"score_{name}{kind}": f"{what}{of}" for name, what in SCORES.items()
       for kind, of in (("", " of the pretrained features"), ("_fresh", " of features drawn anew"))}
)  # fmt: skip
"""Variables of a forecast; NaN of fewer than ten samples, and of a score that the features do not have."""
CLASSIFIER_MEANING = {
    f"score_{name}{kind}": f"{what} of {whose}" for name, what in CLASSIFIER_SCORES.items()
    for kind, whose in (("", "the pretrained classifier"), ("_fresh", "a classifier drawn anew"))
}  # fmt: skip
"""Variables of a forecast of a network that was pretrained as a classifier."""


@plugins.measure(needs=["forecast_probe"], selects=True)
def forecast(data):
    """What was forecast of each run before it was trained, and scores of the literature, (run,)."""
    return data[[name for name in data.data_vars if name.startswith(("forecast_", "score_"))]]
