"""Shallow ReLU networks that learn a few units: `pretrain` and `finetune`, `solvers`, `parameters`."""
