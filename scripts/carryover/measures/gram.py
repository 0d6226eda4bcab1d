"""Kernels of the features before and after pretraining beside that of the source's own units; "Features are fate",
section 4, Fig. 3a and b: training in the rich regime leaves the features that are present in the source task."""

import numpy as np

from carryover.measures.dimensionality import cka
from carryover.networks.relu import Weights
from carryover.runs import measured, naming
from carryover.streams import generator

POINTS = 40  # inputs that the kernels are given at, the first of those that alignments are taken over
MEANING = {
    "gram": "kernel of the pretrained features",
    "initial_gram": "kernel of the features before pretraining",
    "source_gram": "kernel of the source's units",
    "alignment": "centred alignment of the kernels of pretrained features and source's units",
    "initial_alignment": "centred alignment of the kernels of features before pretraining and source's units",
    "unit_cosine": "mean best cosine of the network's units with one of the source's, weighted by importance",
}


def measure(data, p):
    """Kernels k(x, x') = 1/m Σ_i relu(w_i·x) relu(w_i·x'), (run, point, other_point), and alignments, (run,).

    The mean is over a network's m units or over those units of the teacher that the source has. All runs see the same
    inputs, N(0, I). Alignments are `cka`, between 0 and 1.
    """
    X = generator("gram", "", 0, "inputs").standard_normal((p.samples, data.sizes["input"]))
    runs = [_compare(data.isel(run=run), X) for run in range(data.sizes["run"])]
    dims = ("run", "point", "other_point")
    values = {name: np.stack([run[name] for run in runs]) for name in runs[0]}
    variables = {name: (dims[: array.ndim], array, MEANING[name]) for name, array in values.items()}
    return measured(data, variables, **{name: (np.arange(POINTS), "input") for name in dims[1:]})


def _compare(network, X):
    """All variables of one run."""
    present = network["source_readout"].values != 0
    weights = Weights.of_dataset(network)
    source = network["teacher_directions"].values[present].astype(np.float64)
    start = network["start_first"].values.astype(np.float64)
    units = {"gram": weights.first, "initial_gram": start, "source_gram": source}
    responses = {name: np.maximum(X @ one.T, 0) for name, one in units.items()}
    grams = {name: np.float32(one[:POINTS] @ one[:POINTS].T / one.shape[1]) for name, one in responses.items()}
    with naming(network):
        alignment, initial = (cka(responses[name], responses["source_gram"]) for name in ("gram", "initial_gram"))
    cosines = (weights.first @ source.T).max(axis=1)
    return grams | {
        "alignment": alignment,
        "initial_alignment": initial,
        "unit_cosine": np.average(cosines, weights=weights.importance()),
    }
