"""Where the weight of a linear solution lies: on how few dimensions, and on how many auxiliary ones."""

import numpy as np

from carryover.runs import measured


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


def measure(data, p):
    """Both measures of the main readout, for the solution and for the teacher."""
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
    return measured(data, variables, k=(np.arange(1, top.shape[1] + 1), "number of coefficients"))
