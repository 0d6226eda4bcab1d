"""ReLU networks that are means over their units: `pretrain` and `finetune`, `solvers`, `parameters`."""
