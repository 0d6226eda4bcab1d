"""The library's public names, which notebooks import from `carryover` or from their own modules."""

MODULES = {
    "diagnosis.comparison": ("compare",),
    "diagnosis.diagnosis": ("diagnose",),
    "diagnosis.forecast": ("forecast",),
    "diagnosis.layers": ("layer_similarity",),
    "diagnosis.recording": ("record",),
    "diagnosis.rescaling": ("choose_factor", "search_factor"),
    "measures.clusters": ("alignment", "inertia"),
    "measures.dimensionality": ("cka", "ensd", "participation_ratio"),
    "theory.kernels": ("ntk_bound", "relu_kernel", "rkhs_residual"),
    "theory.linear_teachers": (
        "benign_overfitting_bound", "covariance_bound", "deep_linear_limit", "linear_limit", "population_risk",
    ),
    "theory.norms": ("flow_penalty", "l1_norm", "l12_norm", "q_norm"),
    "theory.penalty": ("relu_penalty", "relu_penalty_exponent"),
    "theory.transfer": (
        "finetune_risk", "finetune_transferability", "linear_transfer_risk", "linear_transferability",
        "negative_transfer_interval", "ridge_transfer_risk", "scratch_risk",
    ),
    "training.exact": ("diagonal_flow_limit",),
}  # fmt: skip
MODULE_OF = {name: module for module, names in MODULES.items() for name in names}
