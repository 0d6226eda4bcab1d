"""What ReLU networks have learned, measured by the norm that small weights minimise and by the penalty of finetuning.

The norm: section B.2 of "Feature reuse in multi-task learning and finetuning (appendix)", equations 31-35; E.1 compares
such norms of diagonal networks with those of the ground truth (Fig. 5a). The penalty: "The implicit penalty of
finetuning in ReLU networks", equations 2, 4 and 11.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.config.protocols import TRAINED
from carryover.networks.relu import Weights
from carryover.runs import measure_each_run, teacher_units, units_to_learn, with_run_coordinates
from carryover.theory.kernels import relu_power, relu_risk
from carryover.theory.least_penalty import least_penalty as nearest_network
from carryover.theory.penalty import network_penalty, paired_penalty, teacher_penalty, unit_cosines


@plugins.measure(needs=["first", "second", "teacher_readout", "auxiliary_readout"], applies_to=TRAINED)
def relu_norms(data):
    """Norms of the networks `first` (run, H, D), `second` (run, O, H) of a dataset, and of their teachers, each (run,).

    F₁,₂ is Σ_h ‖m_h‖₂ over units, m_h = ‖input weights‖ · readouts; F₁ is that of the main readout alone. No other
    network computes the same function with less, if no two units are parallel or opposite: the kinks of a function
    determine the sum of m_h on each line of directions. The teacher of a network with one output is that of the main
    task; of one with both, the units of both tasks, a shared one once. Its input weights have length 1, so that its
    norms are those of the readouts.
    """
    network = Weights.of_dataset(data)
    main = Weights(network.first, network.second[:, :1])
    f1, f12 = main.importance().sum(-1), network.importance().sum(-1)
    directions, readout = (data[f"teacher_{name}"].values.astype(float) for name in ("directions", "readout"))
    learned = [units_to_learn(data.isel(run=run)) for run in range(data.sizes["run"])]
    teacher, both = np.abs(readout).sum(-1), [np.linalg.norm(units, axis=1).sum() for units in learned]
    squares = (network.first**2).sum((1, 2)) + (network.second**2).sum((1, 2))
    return with_run_coordinates(data, {
        "f1_norm": ("run", f1, "F₁ norm of the main task's function"),
        "f12_norm": ("run", f12, "F₁,₂ norm of all outputs"),
        "f1_norm_teacher": ("run", teacher, "F₁ norm of the main task's function, of the teacher"),
        "f12_norm_teacher": ("run", both, "F₁,₂ norm of all outputs, of the teacher"),
        "l2_norm_teacher": ("run", np.sqrt(relu_power(directions, readout)),
                            "root mean square of the main task's teacher over all inputs"),
        "balance": ("run", squares / (2 * f12),
                    "squared norm of all weights over twice their F₁,₂ norm, which is the least for this function"),
    })  # fmt: skip


@plugins.measure(
    needs=["first", "start_first", "start_second", "teacher_readout", "auxiliary_readout"],
    applies_to={"protocol": ("finetuning",)},
)
def displacement(data):
    """Squared distance by which finetuning moves the weights, and the least ones for several functions, all (run,).

    The paper's premise is that finetuning ends near its start: the squared distance R of the weights from their start
    (equation 2) is then close to R̃ = Σ r̃, the least one at which a network computes the learned function. The same
    penalty of the teacher's function is given for three ways to get there. Networks have one output, and readouts are
    taken to start at 0 in the penalties of teachers.
    """

    def of_run(network):
        end, start = (Weights.of_dataset(network, prefix) for prefix in ("", "start_"))
        moved = ((end.first - start.first) ** 2).sum() + ((end.second - start.second) ** 2).sum()
        learned = network_penalty(end.first, end.second[0], start.first, start.second[0])
        teacher, auxiliary = teacher_units(network), teacher_units(network, "auxiliary")
        return {
            "displacement": (moved, "squared distance of the weights from their start"),
            "penalty": (learned, "penalty R̃ of the function that was learned: the least such distance at which a "
                        "network computes it"),
            "penalty_teacher": (teacher_penalty(start.first, *teacher), "penalty of the teacher: the same for the "
                                "nearest network that has the teacher's units"),
            "penalty_paired": (paired_penalty(*teacher, *auxiliary), "penalty of the teacher if each of its units "
                               "takes up one pretrained feature"),
            "penalty_new": (2 * np.abs(teacher[1]).sum(), "penalty of the teacher from weights of 0"),
        }  # fmt: skip

    return measure_each_run(data, of_run)


class LeastPenalty(Model):
    gap: Annotated[float, Field(gt=0, le=0.1)] = parameter(1e-4, "share of the penalty that may be left to the bound")


@plugins.measure(
    needs=["inputs", "targets", "first", "start_first", "teacher_readout"],
    applies_to={"protocol": ("single_task", "finetuning"), "loss": ("squared",)},
)
def least_penalty(data, p: LeastPenalty):
    """Compares the function of every trained network with the one of least penalty; all of shape (run,).

    The paper predicts that finetuning finds the function of least Σ r̃ among those that fit the samples. For few samples
    in few dimensions this function can be computed, from the initial weights and the samples of each network. Networks
    have one output.
    """

    def mean_rotation(first, start):
        """Mean over units of 1 − cosine between their input weights (H, D) and those at the start, weighted by the
        squared length at the start; NaN if all units start at 0. A unit of length 0 at the end counts as unrotated."""
        squares = (start**2).sum(1)
        return (squares * (1 - unit_cosines(first, start))).sum() / squares.sum() if start.any() else np.nan

    def of_run(network):
        end, start = (Weights.of_dataset(network, prefix) for prefix in ("", "start_"))
        trained, teacher = (end.first, end.second[0]), teacher_units(network)
        known = np.isfinite(network["targets"].values)  # NaN is padding, for other networks may have more samples
        X, y = network["inputs"].values[known], network["targets"].values[known]
        least = nearest_network(start.first, start.second[0], X, y, gap=p.gap)
        power, errors = relu_power(*teacher), end.outputs(X)[:, 0] - y
        return {
            "penalty": (network_penalty(*trained, start.first, start.second[0]),
                        "penalty R̃ of the function that was found, from the weights that training started from"),
            "penalty_least": (least.penalty, "penalty of the function of least penalty that fits the samples, where "
                              "units may be split"),
            "penalty_bound": (least.bound, "what no function that fits them costs less than"),
            "risk_found": (relu_risk(*trained, *teacher) / power,
                           "risk of the function that was found, over the teacher's mean square"),
            "risk_predicted": (relu_risk(least.first, least.readout, *teacher) / power,
                               "risk of the function of least penalty, over the teacher's mean square"),
            "difference": (relu_risk(*trained, least.first, least.readout) / power,
                           "mean square of the difference of these functions, over the teacher's"),
            "unfitted": ((errors**2).mean() / (y**2).mean(),
                         "mean squared error on the samples, over the mean square of their targets"),
            "rotation": (mean_rotation(end.first, start.first), "1 − cosine by which weights have turned, mean over "
                         "units weighted by their squared length at the start"),
            "rotation_predicted": (mean_rotation(least.first, least.start),
                                   "the same of the function of least penalty"),
        }  # fmt: skip

    return measure_each_run(data, of_run)
