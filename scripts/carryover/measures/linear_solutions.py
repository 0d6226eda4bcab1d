"""Norms and penalties of linear solutions and of their teachers, and where the weight of either lies."""

import numpy as np
from pydantic import PositiveFloat, PositiveInt

from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.runs import with_run_coordinates
from carryover.theory.norms import flow_penalty, l1_norm, l12_norm, q_norm


class Norms(Model):
    readout_scale: PositiveFloat = parameter(1e-3, "readout γ that the Q penalty assumes after pretraining")


@plugins.measure(needs=["coefficients", "auxiliary_teacher", "start_first_plus"])
def norms(data, p: Norms):
    """Norms of the solution and of the teacher, each (run,).

    ℓ1,2 is of the main and the auxiliary coefficients. The latter are the network's if it learned both tasks, otherwise
    those of the auxiliary teacher, which pretraining recovers. Q assumes a first layer of √|β_aux| (eqs 3, 22), the
    flow penalty the actual initial weights. The flow penalty is NaN if several outputs or only the readout were
    trained: then the flow minimises another penalty.
    """
    solution, teacher = data["coefficients"].isel(output=0, drop=True).values, data["teacher"].values
    auxiliary = data["auxiliary_teacher"].values
    multi_task = data.sizes["output"] > 1
    learned = data["coefficients"].values[:, 1] if multi_task else auxiliary
    names = (f"start_{layer}_{path}" for path in ("plus", "minus") for layer in ("first", "second"))
    start = [data[name].isel(output=0, missing_dims="ignore").values for name in names]
    other_flow = np.char.endswith(data["protocol"].values.astype(str), "_probe") | multi_task
    variables: dict[str, tuple] = {}
    for suffix, of, beta, aux in (("", "", solution, learned), ("_teacher", ", of the teacher", teacher, auxiliary)):
        values_of = {
            "l1_norm": (l1_norm(beta), "ℓ1 norm of the main coefficients"),
            "l12_norm": (l12_norm(np.stack([beta, aux], axis=1)), "ℓ1,2 norm of main and auxiliary coefficients"),
            "q_norm": (q_norm(beta, np.sqrt(np.abs(auxiliary)), p.readout_scale),
                       "Q penalty of the main coefficients after ideal pretraining (eq 22)"),
            "flow_penalty": (np.where(other_flow, np.nan, flow_penalty(beta, *start)),
                             "penalty that gradient flow minimises from the network's own start"),
        }  # fmt: skip
        variables |= {f"{name}{suffix}": ("run", values, f"{text}{of}") for name, (values, text) in values_of.items()}
    return with_run_coordinates(data, variables)


class Sparsity(Model):
    largest_k: PositiveInt = parameter(100, "most weights to count as the top k")


@plugins.measure(needs=["coefficients", "auxiliary_teacher"])
def sparsity(data, p: Sparsity):
    """On how few dimensions the main readout of the solution and that of the teacher lie, and on how many auxiliary
    ones: `top_k_variance` (run, k) and `auxiliary_share` (run,)."""
    solution = data["coefficients"].isel(output=0, drop=True).values
    teacher, auxiliary = data["teacher"].values, data["auxiliary_teacher"].values
    # Single precision is enough for shares, and halves what is the largest part of the archive.
    top, of_teacher = (top_k_variance(beta, p.largest_k).astype(np.float32) for beta in (solution, teacher))
    largest = "share of squared weight in the k largest coefficients"
    inside = "share of the weight norm in the auxiliary dimensions"
    variables = {
        "top_k_variance": (("run", "k"), top, largest),
        "top_k_variance_teacher": (("run", "k"), of_teacher, f"{largest}, of the teacher"),
        "auxiliary_share": ("run", auxiliary_share(solution, auxiliary), inside),
        "auxiliary_share_teacher": ("run", auxiliary_share(teacher, auxiliary), f"{inside}, of the teacher"),
    }
    return with_run_coordinates(data, variables, k=(np.arange(1, top.shape[1] + 1), "number of coefficients"))


def top_k_variance(beta, largest_k):
    """Share of Σβ² in the k largest weights, k = 1…largest_k: Fig. 5c,e of "Feature reuse in multi-task learning and
    finetuning (appendix)". beta (..., D) -> (..., min(largest_k, D)); NaN where beta is all zero."""
    largest = -np.sort(-(np.asarray(beta, dtype=float) ** 2), axis=-1)
    with np.errstate(invalid="ignore"):
        return np.cumsum(largest, axis=-1)[..., :largest_k] / largest.sum(-1, keepdims=True)


def auxiliary_share(beta, auxiliary):
    """Share of the norm ‖β‖₂ that lies in the auxiliary task's dimensions: Fig. 5b,f. beta and the coefficients of the
    auxiliary task (..., D) -> (...); NaN where beta is all zero."""
    inside = np.where(np.asarray(auxiliary) != 0, beta, 0.0)
    with np.errstate(invalid="ignore"):
        return np.linalg.norm(inside, axis=-1) / np.linalg.norm(beta, axis=-1)
