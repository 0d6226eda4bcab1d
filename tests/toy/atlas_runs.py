"""Made-up runs of a family over overlap, samples and six seeds, and the map that is made of them."""

import numpy as np

from carryover.claims.comparisons import atlas
from carryover.config.plugins import model_of
from toy.made_up_runs import dataset

GRID = {"overlap": [0.0, 0.5, 1.0], "samples": [10, 20, 40]}


def log_gain(overlap, samples, seed=0, spread=0.0):
    """Positive for overlap above a half, by more the more samples; of the seeds alone at a half."""
    return (overlap - 0.5) * np.log10(samples) + spread * (-1) ** seed


def runs(protocols=("finetuning",), spread=0.01, **more):
    """Risks of single-task runs and transferred ones, which gain `log_gain`, or half of it where they are probes; the
    penalty of a run falls by twice its gain, where seeds do not differ."""
    share = dict.fromkeys(protocols, 0.5) | {"finetuning": 1.0, "single_task": 0.0}

    def values(seed, protocol, overlap, samples, **_):
        gain, mean = (share[protocol] * log_gain(overlap, samples, seed, s) for s in (spread, 0.0))
        return {"risk_final": 0.1 * 10.0**-gain, "penalty": 3.0 * 10.0 ** (-2 * mean), "new": 3.0}

    return dataset(values, {"protocol": ["single_task", *protocols], "solver": ["exact"], **GRID, **more})


def mapped(risk=None, **more):
    """The map of such runs, by default with predictions by the variable `penalty`."""
    told = {"family": "Toy", "parameters": 10.0, "theory": "ratio", "ratio": "penalty", **more}
    return atlas.atlas({"risk": runs() if risk is None else risk}, model_of("claims.comparisons", "atlas")(**told))
