"""Made-up transfers of two families, as `comparisons.forecasts` makes them of runs and forecasts."""

from carryover.claims.comparisons import forecasts
from carryover.config.plugins import model_of
from carryover.measures.forecast import MEANING
from toy.made_up_runs import dataset

GRID = {"overlap": [0.0, 0.25, 0.75, 1.0], "samples": [12, 48], "noise": [0.0]}
PROTOCOLS = ["finetuning", "finetuning_probe"]


def runs(wrong=(), width=0.1):
    """{role: dataset}: transfers gain overlap − .4 in log₁₀, and so say forecasts, but for settings of a `wrong`
    overlap, of which they say the contrary. Half-lengths of the intervals of gains are `width`."""

    def risks(seed, protocol, overlap, **_):
        gain = 0.0 if protocol == "single_task" else overlap - 0.4
        return {"risk_final": 0.1 * 10.0**-gain}

    def values(seed, protocol, overlap, **_):
        gain = (overlap - 0.4) * (-1 if overlap in wrong else 1)
        found = dict.fromkeys(MEANING, 0.5) | {"forecast_variance": 1.0}
        for arm in ("probe", "finetune"):
            found |= {f"forecast_{arm}_gain{end}": gain + shift
                      for end, shift in {"": 0, "_low": -width, "_high": width, "_fitted": 0}.items()}  # fmt: skip
            score = 1 - 0.1 * 10.0 ** -(overlap - 0.4)
            found |= {f"forecast_{arm}": score, f"forecast_{arm}_low": score - 0.1, f"forecast_{arm}_high": score + 0.1}
        return found | {
            "score_logme": overlap,
            "score_logme_fresh": 0.4 + 0.01 * (-1) ** seed,
            "score_parc": float("nan"),
        }

    scratch = {"protocol": ["single_task"], **GRID}
    transferred = {"protocol": PROTOCOLS, **GRID}
    return {"risk": dataset(risks, scratch, transferred), "forecast": dataset(values, transferred)}


def transferred(family="Toy", **told):
    """The transfers of such runs."""
    return forecasts.forecasts(runs(**told), model_of("claims.comparisons", "forecasts")(family=family))
