"""How figures write what runs of deep linear networks are."""

LABELS = {
    "samples": "target samples n =",
    "stretch": "stretch α",
    "depth": "layers L =",
    "frozen": "frozen layers k =",
    "target_norm": "norm of the target",
}
VALUE_LABELS = {
    "relation": {
        "leading": "Bottom Eigen Align (tasks differ in the leading directions)",
        "trailing": "Top Eigen Align (they differ in the others)",
    }
}
