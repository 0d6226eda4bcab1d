"""Linear functions on pairs of tasks with images: `pretrain` and `finetune`, `solvers`, `parameters`."""
