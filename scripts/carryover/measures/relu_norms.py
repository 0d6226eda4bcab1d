"""The norm that small weights make ReLU networks minimise, of what they have learned and of their teachers.

From section B.2 of "Feature reuse in multi-task learning and finetuning (appendix)", equations 31-35; E.1 compares such
norms of diagonal networks with those of the ground truth (Fig. 5a).
"""

import numpy as np

from carryover.networks.relu import Weights
from carryover.runs import learned_units, measured
from carryover.theory.kernels import relu_power


def measure(data, p):
    """Norms of the network and of its teachers, each (run,).

    F₁,₂ is Σ_h ‖m_h‖₂ over units, m_h = ‖input weights‖ · readouts; F₁ is that of the main readout alone. No other
    network computes the same function with less, if no two units are parallel or opposite: the kinks of a function
    determine the sum of m_h on each line of directions. The teacher of a network with one output is that of the main
    task; of one with both, the units of both tasks, a shared one once.
    """
    network = Weights.of_dataset(data)
    directions, readout = (data[f"teacher_{name}"].values.astype(float) for name in ("directions", "readout"))
    f12 = network.importance().sum(-1)
    learned = [learned_units(data.isel(run=run)) for run in range(data.sizes["run"])]
    norm = Weights(network.first, network.second[:, :1]).importance().sum(-1)
    teacher, both = np.abs(readout).sum(-1), [np.linalg.norm(units, axis=1).sum() for units in learned]
    power = relu_power(directions, readout)
    squares = (network.first**2).sum((1, 2)) + (network.second**2).sum((1, 2))
    return measured(data, {
        "f1_norm": ("run", norm, "F₁ norm of the main task's function"),
        "f12_norm": ("run", f12, "F₁,₂ norm of all outputs"),
        "f1_norm_teacher": ("run", teacher, "F₁ norm of the main task's function, of the teacher"),
        "f12_norm_teacher": ("run", both, "F₁,₂ norm of all outputs, of the teacher"),
        "l2_norm_teacher": ("run", power**0.5, "root mean square of the main task's teacher over all inputs"),
        "balance": ("run", squares / (2 * f12),
                    "squared norm of all weights over twice their F₁,₂ norm, which is the least for this function"),
    })  # fmt: skip
