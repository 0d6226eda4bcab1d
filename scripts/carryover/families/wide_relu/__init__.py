"""Wide ReLU networks and their tangent kernel: `pretrain` and `finetune`, `solvers`, `parameters`."""
