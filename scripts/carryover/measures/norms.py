"""Norms and penalties of linear solutions and of their teachers."""

import numpy as np

from carryover.runs import measured
from carryover.theory.norms import flow_penalty, l1_norm, l12_norm, q_norm


def measure(data, p):
    """Norms of the solution and of the teacher, each (run,).

    ℓ1,2 is of the main and the auxiliary coefficients. The latter are the network's if it learned both tasks, otherwise
    those of the auxiliary teacher, which pretraining recovers. Q assumes a first layer of √|β_aux| (eqs 3, 22), the
    flow penalty the actual initial weights. The flow penalty is NaN if several outputs or only the readout were
    trained: then the flow minimises another penalty.
    """
    solution, teacher = data["coefficients"].isel(output=0, drop=True).values, data["teacher"].values
    auxiliary = data["auxiliary_teacher"].values
    multi_task = data.sizes["output"] > 1
    learned_auxiliary = data["coefficients"].values[:, 1] if multi_task else auxiliary
    names = (f"start_{layer}_{path}" for path in ("plus", "minus") for layer in ("first", "second"))
    start = [data[name].isel(output=0, missing_dims="ignore").values for name in names]
    other_flow = np.char.endswith(data["protocol"].values.astype(str), "_probe") | multi_task
    variables: dict[str, tuple] = {}
    for suffix, of, beta, beta_aux in (
        ("", "", solution, learned_auxiliary), ("_teacher", ", of the teacher", teacher, auxiliary)
    ):  # fmt: skip
        norms = {
            "l1_norm": (l1_norm(beta), "ℓ1 norm of the main coefficients"),
            "l12_norm": (l12_norm(np.stack([beta, beta_aux], axis=1)), "ℓ1,2 norm of main and auxiliary coefficients"),
            "q_norm": (q_norm(beta, np.sqrt(np.abs(auxiliary)), p.readout_scale),
                       "Q penalty of the main coefficients after ideal pretraining (eq 22)"),
            "flow_penalty": (np.where(other_flow, np.nan, flow_penalty(beta, *start)),
                             "penalty that gradient flow minimises from the network's own start"),
        }  # fmt: skip
        variables |= {f"{name}{suffix}": ("run", values, f"{text}{of}") for name, (values, text) in norms.items()}
    return measured(data, variables)
