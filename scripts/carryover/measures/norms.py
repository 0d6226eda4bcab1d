"""Norms and penalties of linear solutions beside those of their teachers."""

import numpy as np

from carryover.runs import measured
from carryover.theory.norms import flow_penalty, l1_norm, l12_norm, q_norm


def measure(data, p):
    """Norms of the solution and of the teacher, each (run,).

    ℓ1,2 joins the main coefficients with the auxiliary ones: the network's own where it has learned both tasks, else
    the auxiliary teacher's, which pretraining recovers. Q takes the first layer to be √|β_aux| (eqs 3, 22); the flow
    penalty takes the weights from which the network really started, and is NaN where several outputs or the readout
    alone were trained, for then the flow minimises something else.
    """
    solution, teacher = data["coefficients"].isel(output=0, drop=True).values, data["teacher"].values
    auxiliary = data["auxiliary_teacher"].values
    learned = data["coefficients"].values[:, 1] if data.sizes["output"] > 1 else auxiliary
    variables: dict[str, tuple] = {}
    for suffix, of, beta, other in (("", "", solution, learned), ("_teacher", ", of the teacher", teacher, auxiliary)):
        norms = {
            "l1_norm": (l1_norm(beta), "ℓ1 norm of the main coefficients"),
            "l12_norm": (l12_norm(np.stack([beta, other], axis=1)), "ℓ1,2 norm of main and auxiliary coefficients"),
            "q_norm": (q_norm(beta, np.sqrt(np.abs(auxiliary)), p.readout_scale),
                       "Q penalty of the main coefficients after ideal pretraining (eq 22)"),
            "flow_penalty": (_flow_penalty(data, beta),
                             "penalty that gradient flow minimises from the network's own start"),
        }  # fmt: skip
        variables |= {f"{name}{suffix}": ("run", values, f"{text}{of}") for name, (values, text) in norms.items()}
    return measured(data, variables)


def _flow_penalty(data, beta):
    if data.sizes["output"] > 1:
        return np.full(len(beta), np.nan)
    start = (data[f"start_{name}"].values for name in ("first_plus", "second_plus", "first_minus", "second_minus"))
    w1_plus, w2_plus, w1_minus, w2_minus = (w.reshape(beta.shape) for w in start)
    probe = np.char.endswith(data["protocol"].values.astype(str), "_probe")
    return np.where(probe, np.nan, flow_penalty(beta, w1_plus, w2_plus, w1_minus, w2_minus))
