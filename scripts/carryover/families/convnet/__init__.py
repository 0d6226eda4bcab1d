"""Convolutional networks that tell classes of images apart: `pretrain` and `finetune`, `solvers`, `parameters`."""
