"""How figures write what runs of mean-field networks are."""

LABELS = {"ablated": "ablated share μ", "anchor": "λ", "max_time": "flow time t", "teacher_scale": "teacher scale"}
VALUE_LABELS = {
    "pretrain_solver": {"descent": "trained features", "flow": "trained features", "exact": "initial features"},
    "readout": {
        "zero": "gradient flow from 0",
        "pretrained": "gradient flow from the pretrained readout",
        "least_squares": "cut-off least squares",
    },
}
