"""What was forecast of runs before they were trained."""

from carryover.config import plugins


@plugins.measure(
    needs=["forecast_probe"],
    applies_to={"protocol": ("finetuning", "linear_transfer", "finetuning_probe")},
    selects=True,
)
def forecast(data):
    """What was forecast of each run before it was trained, and scores of the literature, (run,)."""
    return data[[name for name in data.data_vars if name.startswith(("forecast_", "score_"))]]
