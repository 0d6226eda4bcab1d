"""What is measured of finetuned networks: a function or a file per measure, which is found by its name.

- Of training: `recorded` (risk, trajectory and others that are only selected), `pretrained_weights`.
- Of linear networks: `linear_solutions` (norms, sparsity).
- Of ReLU networks: `relu_solutions` (norms, displacement, least penalty), `clusters`, `pretrained_features`.
- Of features: `dimensionality` (its formulas, too), `target_alignment`; of convolutional networks `stages` and
  `linear_probe`. `transfer_scores` are those of the literature, which
  `forecast` selects with what was forecast of each run.
- The model next to each says what can be set of it, and `plugins.measure` of which networks it can be taken.
"""
