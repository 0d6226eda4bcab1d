"""Formulas and theorems of the four papers as pure functions: arrays broadcast, NumPy in, NumPy out.

- Features are fate: `transfer` (risks of linear transfer and finetuning), `kernels` (averages over inputs of ReLU
  units, which training uses, too), `discrepancy` (distances between data sets).
- Linear teachers: `linear_teachers` (limits, and bounds on their risk), and `ntk_bound` in `kernels`.
- Feature reuse: `norms` (Q, ℓ1,2, and what a flow minimises), `interpolation` (mean risks of diagonal networks).
- Beyond them: `layer_scales` (finetuning after pretraining from layers of different sizes).
- The implicit penalty: `penalty` (of a unit and of a network), `least_penalty` (of the network that fits).
- `arguments`: the check that all share; `curves`: what is drawn of these, a file per curve.
"""
