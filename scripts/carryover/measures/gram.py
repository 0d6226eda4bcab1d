"""Kernels of the features before and after pretraining, compared with that of the source's units; "Features are fate",
section 4, Fig. 3a and b: training in the rich regime leaves the features that are present in the source task."""

from functools import partial

import numpy as np

from carryover.measures.dimensionality import cka
from carryover.networks.relu import Weights
from carryover.runs import measured_by_run
from carryover.streams import generator

POINTS = 40  # inputs that the kernels are given at, the first of those that alignments are taken over


def measure(data, p):
    """Kernels k(x, x') = 1/m Σ_i relu(w_i·x) relu(w_i·x'), (run, point, other_point), and alignments, (run,).

    The mean is over a network's m units or over those units of the teacher that the source has. All runs see the same
    inputs, N(0, I). Alignments are `cka`, between 0 and 1.
    """
    X = generator("gram", "", 0, "inputs").standard_normal((p.samples, data.sizes["input"]))
    points = np.arange(POINTS), "input"
    return measured_by_run(data, partial(_compare, X=X), point=points, other_point=points)


def _compare(network, X):
    present = network["source_readout"].values != 0
    source = network["teacher_directions"].values[present].astype(np.float64)
    weights, start = Weights.of_dataset(network), network["start_first"].values.astype(np.float64)
    trained, initial, known = (np.maximum(X @ units.T, 0) for units in (weights.first, start, source))
    aligned, before = cka(trained, known), cka(initial, known)
    cosine = np.average((weights.first @ source.T).max(axis=1), weights=weights.importance())
    return {
        "gram": (_gram(trained), "kernel of the pretrained features"),
        "initial_gram": (_gram(initial), "kernel of the features before pretraining"),
        "source_gram": (_gram(known), "kernel of the source's units"),
        "alignment": (aligned, "centred alignment of the kernels of pretrained features and source's units"),
        "initial_alignment": (
            before, "centred alignment of the kernels of features before pretraining and source's units"),
        "unit_cosine": (
            cosine, "mean best cosine of the network's units with one of the source's, weighted by importance"),
    }  # fmt: skip


def _gram(responses):
    """Mean over units (points, units) at the first inputs, in single precision."""
    return np.float32(responses[:POINTS] @ responses[:POINTS].T / responses.shape[1])
