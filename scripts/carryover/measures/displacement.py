"""How far training moves the weights of ReLU networks, and how far it would have to.

From "The implicit penalty of finetuning in ReLU networks": its premise is that finetuning ends near the start, at the
squared distance R (equation 2), for which R̃ = Σ r̃ (equations 4, 11) is the least that the function learned can have.
"""

import numpy as np

from carryover.networks.relu import Weights
from carryover.runs import measured_by_run, teacher_units
from carryover.theory.penalty import network_penalty, paired_penalty, teacher_penalty


def measure(data, p):
    """Squared distances (run,) of networks of one output; the starts of penalties of teachers have readouts 0."""
    return measured_by_run(data, _distances)


def _distances(network):
    end, start = (Weights.of_dataset(network, prefix) for prefix in ("", "start_"))
    displacement = ((end.first - start.first) ** 2).sum() + ((end.second - start.second) ** 2).sum()
    learned = network_penalty(end.first, end.second[0], start.first, start.second[0])
    teacher, auxiliary = teacher_units(network), teacher_units(network, "auxiliary")
    return {
        "displacement": (displacement, "squared distance of the weights from their start"),
        "penalty": (learned,
                    "penalty R̃ of the function that was learned: the least such distance at which a network computes "
                    "it"),
        "penalty_teacher": (teacher_penalty(start.first, *teacher),
                            "penalty of the teacher: the same for the nearest network that has the teacher's units"),
        "penalty_paired": (paired_penalty(*teacher, *auxiliary),
                           "penalty of the teacher if each of its units takes up one pretrained feature"),
        "penalty_new": (2 * np.abs(teacher[1]).sum(), "penalty of the teacher from weights of 0"),
    }  # fmt: skip
