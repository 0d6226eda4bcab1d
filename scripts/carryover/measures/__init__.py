"""What is measured of finetuned networks: a file per measure, which is found by its name.

- Of training: `risk`, `trajectory`, `stopped`.
- Of linear solutions: `norms`, `sparsity`, `coefficients`, and `bounds` on their errors.
- Of ReLU networks: `clusters`, `relu_norms`, `displacement`, `least_penalty`, `gram`, `out_of_rkhs`, `ntk_bound`.
- Of features: `dimensionality` (its formulas, too), `target_alignment`; of convolutional networks `stages` and
  `linear_probe`.
- `parameters`: what can be set of each, and of which networks it can be taken.
"""
