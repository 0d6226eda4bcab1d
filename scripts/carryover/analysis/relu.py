"""What is the same for all figures and claims on ReLU networks."""

UNFITTED = 1e-4  # share of the targets' mean square up to which samples count as fitted
FLOOR = 1e-4  # share of the teacher's mean square below which risks count as the same
AUXILIARY_FEATURES = 6  # teacher units of the auxiliary task of the role overlap
