"""Exact limits, gradient flow, gradient descent and ridge regression of ensembles of networks.

- `integrate`: the loop that every trainer shares, and what it records; `result`: what training returns, and how it
  fails; `steppers`: steps of flows, by ROS2, RODAS or RKC2; `losses`, `devices`.
- Without training: `exact` (diagonal networks and their probes), `readout_flow` (readouts of mean-field networks),
  `kernel_ridge` (probes and linearised ReLU networks).
- Diagonal networks: `diagonal_flow`, and `diagonal` (descent).
- ReLU networks on samples: `relu_flow`, with `relu_tangent`, and `relu` (descent); on the population loss:
  `population_flow`.
- Deep linear networks: `linear_flow` (its limits, without training, and its path), and `deep_linear` (descent).
- Convolutional networks: `convnet`, with `convnet_ensemble`.
"""
