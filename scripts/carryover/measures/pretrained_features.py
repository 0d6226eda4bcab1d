"""What mean-field pretraining leaves of the features ("Features are fate", section 4, Fig. 3)."""

from typing import Annotated

import numpy as np
from pydantic import Field

from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.measures.dimensionality import cka
from carryover.networks.relu import Weights
from carryover.runs import measure_each_run
from carryover.streams import generator
from carryover.theory import kernels

POINTS = 40  # inputs that the kernels are given at, the first of those that alignments are taken over


class Gram(Model):
    samples: Annotated[int, Field(ge=40)] = parameter(2000, "inputs that alignments are taken over")


@plugins.measure(needs=["first", "start_first", "source_readout", "teacher_directions"])
def gram(data, p: Gram):
    """Kernels k(x, x') = 1/m Σ_i relu(w_i·x) relu(w_i·x'), (run, point, other_point), and alignments, (run,).

    Kernels of the features before and after pretraining are compared with that of the source's units, since training in
    the rich regime is expected to leave only features of the source task (Fig. 3a and b). The mean is over the m units
    of a network, or over those units of the teacher that the source task has. Inputs are N(0, I), the same in all runs.
    Kernels are at the first `POINTS` of them. Alignments are `cka`, between 0 and 1, over all inputs.
    """
    X = generator("gram", "", 0, "inputs").standard_normal((p.samples, data.sizes["input"]))
    points = np.arange(POINTS), "input"

    def kernel(responses):
        return np.float32(responses[:POINTS] @ responses[:POINTS].T / responses.shape[1])

    def of_run(network):
        present = network["source_readout"].values != 0  # the units of the source task
        source = network["teacher_directions"].values[present].astype(np.float64)
        weights, start = Weights.of_dataset(network), network["start_first"].values.astype(np.float64)
        trained, initial, known = (np.maximum(X @ units.T, 0) for units in (weights.first, start, source))
        cosine = np.average((weights.first @ source.T).max(axis=1), weights=weights.importance())  # of unit vectors
        return {
            "gram": (kernel(trained), "kernel of the pretrained features"),
            "initial_gram": (kernel(initial), "kernel of the features before pretraining"),
            "source_gram": (kernel(known), "kernel of the source's units"),
            "alignment": (cka(trained, known),
                          "centred alignment of the kernels of pretrained features and source's units"),
            "initial_alignment": (cka(initial, known), "centred alignment of the kernels of features before "
                                  "pretraining and source's units"),
            "unit_cosine": (cosine, "mean best cosine of the network's units with one of the source's, weighted by "
                            "importance"),
        }  # fmt: skip

    return measure_each_run(data, of_run, point=points, other_point=points)


class RkhsResidual(Model):
    cutoff: Annotated[float, Field(gt=0, le=1)] = parameter(
        1e-10, "eigenvalues of the features' kernel, relative to the largest, up to which a direction counts as "
        "outside")  # fmt: skip


@plugins.measure(needs=["first", "start_first", "source_readout", "teacher_directions"])
def rkhs_residual(data, p: RkhsResidual):
    """How much of the target f* the features cannot represent: ‖P⊥f*‖²/‖f*‖² over the inputs' distribution, between 0
    and 1, (run,), of either features (equations 151–156, Fig. 3d); the risk of linear transfer to endless samples,
    ‖P⊥f*‖²/Var f*; and the cutoff that they hang on.

    Raises UserError naming a run whose weights are not finite.
    """

    def of_run(network):
        target = network["teacher_readout"].values, network["teacher_directions"].values
        after, before = (
            kernels.rkhs_residual(*target, network[name].values, cutoff=p.cutoff) for name in ("first", "start_first")
        )
        power, variance = kernels.function_moments(*target)
        return {
            "rkhs_residual": (after / power,
                            "share of the target's mean square outside the span of the pretrained features"),
            "initial_rkhs_residual": (before / power, "share of the target's mean square outside the span of the "
                                    "features before pretraining"),
            "least_risk": (after / variance,
                           "least risk of a readout on the pretrained features, as a share of the target's variance"),
            "cutoff": (p.cutoff, "eigenvalues of the features' kernel, relative to the largest, up to which a "
                       "direction counts as outside"),
        }  # fmt: skip

    return measure_each_run(data, of_run)
