"""How figures write what runs of deep linear networks are."""

LABELS = {"stretch": "stretch α", "depth": "layers L =", "target_norm": "norm of the target"}
VALUE_LABELS = {"relation": {"leading": "difference in leading directions", "trailing": "difference in the others"}}
