"""On a card and on the CPU: what two shards of the same runs may differ in, and which can be compared.

A number may differ by the stated share of the largest one of its variable. Sums in another order make shares of 1e-12
in float64 and 1e-6 in float32 of the shards of these tests, of convolutional networks 4e-7.
"""

SHARES = {"float64": 1e-9, "float32": 1e-4}
# Convolutional networks whose training on the two can be compared: all images in every step.
CONVNETS = {"width": 8, "tasks": 1, "samples": (32,), "batch_size": 0, "learning_rate": 1e-3, "keep_weights": True}
