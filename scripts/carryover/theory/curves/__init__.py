"""Theory curves, which need no training: each is found by its name, and its parameters are in `parameters`.

- `linear_transfer`: transferability between linear tasks, and distances between their data.
- `linear_teachers`: bounds on the risk of finetuning and risks on random inputs.
- `diagonal_risk`: risks of diagonal networks in many dimensions; of nested tasks too.
- `relu_penalty`: the penalty on recruiting a pretrained ReLU unit.
"""
