"""Families of networks: what their stages of training pose, how that is solved, and what is kept of it.

- `stages`: the files of a family, and what serves all of them; `parameters`: what several can set.
- `diagonal`, `relu`, `convnet`: multi-task learning and finetuning ("Feature reuse").
- `deep_linear`: linear transfer ("Features are fate") and layers ("Finetuning with linear teachers").
- `mean_field`: ReLU networks and ablated teachers ("Features are fate").
- `wide_relu`, `image_pairs`: tangent kernels, and pairs of tasks ("Finetuning with linear teachers").
"""
