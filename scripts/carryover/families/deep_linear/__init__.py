"""Deep linear networks on Gaussian inputs: `pretrain` and `finetune`, `solvers`, `parameters`."""
