"""Diagonal linear networks that learn sparse tasks: `pretrain` and `finetune`, `solvers`, `parameters`."""
