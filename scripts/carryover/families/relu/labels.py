"""How figures write what runs of ReLU networks are."""

LABELS = {"unit_correlations": "cosines", "correlation": "cosine ρ", "magnitude": "magnitude"}
