"""The library's public names, which stay where they are: notebooks are written on them.

    from carryover import relu_penalty
    relu_penalty(1.0, 0.5, 0.0, 1.0)

The package takes them from here, all of them once one is asked for. Each may as well be imported from its own module,
which loads less: `docs/library.md` lists both.
"""

from carryover.diagnosis.comparison import compare
from carryover.diagnosis.diagnosis import diagnose
from carryover.diagnosis.layers import layer_similarity
from carryover.diagnosis.recording import record
from carryover.diagnosis.rescaling import choose_factor, search_factor
from carryover.measures.clusters import alignment, inertia
from carryover.measures.dimensionality import cka, ensd, participation_ratio
from carryover.theory.kernels import ntk_bound, relu_kernel, rkhs_residual
from carryover.theory.linear_teachers import (
    benign_overfitting_bound,
    covariance_bound,
    deep_linear_limit,
    linear_limit,
    population_risk,
)
from carryover.theory.norms import flow_penalty, l1_norm, l12_norm, q_norm
from carryover.theory.penalty import relu_penalty, relu_penalty_exponent
from carryover.theory.transfer import (
    finetune_risk,
    finetune_transferability,
    linear_transfer_risk,
    linear_transferability,
    negative_transfer_interval,
    ridge_transfer_risk,
    scratch_risk,
)
from carryover.training.exact import diagonal_flow_limit

__all__ = [
    "alignment",
    "benign_overfitting_bound",
    "choose_factor",
    "cka",
    "compare",
    "covariance_bound",
    "deep_linear_limit",
    "diagnose",
    "diagonal_flow_limit",
    "ensd",
    "finetune_risk",
    "finetune_transferability",
    "flow_penalty",
    "inertia",
    "l1_norm",
    "l12_norm",
    "layer_similarity",
    "linear_limit",
    "linear_transfer_risk",
    "linear_transferability",
    "negative_transfer_interval",
    "ntk_bound",
    "participation_ratio",
    "population_risk",
    "q_norm",
    "record",
    "relu_kernel",
    "relu_penalty",
    "relu_penalty_exponent",
    "ridge_transfer_risk",
    "rkhs_residual",
    "scratch_risk",
    "search_factor",
]
