"""What the features before finetuning say of the target: how well their kernel is aligned with it, how well a linear
readout predicts it from as many samples as there are, which needs nothing but these, and how many dimensions they have.
"""

import numpy as np

from carryover.measures.dimensionality import cka, participation_ratio
from carryover.networks.relu import Weights
from carryover.runs import measured_by_run, teacher_units
from carryover.streams import generator
from carryover.tasks.sparse import sphere
from carryover.training.kernel_ridge import leave_one_out

STRENGTHS = 10.0 ** np.arange(-8, 3)
"""Penalties of the readout, in units of the mean square of the features; that of the best R² is taken."""


def target_alignment(data, p):
    """Of shape (run,), of the features from which finetuning starts and the main task's teacher f*.

    The alignment is the centred kernel-target alignment (Cortes, Mohri and Rostamizadeh 2012), E k(x, x') f*(x) f*(x')
    over √E k² E f*², between 0 and 1: over all inputs of diagonal networks, over `inputs` of them of ReLU networks, and
    so is the participation ratio. Samples of the readout are drawn anew, the same for all runs. Raises UserError naming
    a run whose features or target are constant or not finite.
    """
    count = max(p.inputs, int(data["samples"].max()))
    drawn = sphere(generator("target_alignment", "", 0, "inputs"), count, data.sizes["input"])

    def of_run(network):
        samples = int(network["samples"])
        if "teacher_readout" in network:  # ReLU units
            features = Weights.of_dataset(network, "start_").responses(drawn)
            directions, coefficients = teacher_units(network)
            target = Weights(directions, coefficients[None]).outputs(drawn)[:, 0]
            aligned = cka(features[: p.inputs], target[: p.inputs, None])
            dimensions = participation_ratio(features[: p.inputs])
        else:  # features w₁ ⊙ x of both paths, x of covariance 1; kernels between samples know Σ w₁² alone
            first = np.stack([network[f"start_first_{sign}"].values for sign in ("plus", "minus")]).astype(float)
            power, teacher = (first**2).sum(0), network["teacher"].values.astype(float)
            size = np.linalg.norm(power)
            if not (np.isfinite(size) and size > 0 and teacher.any()):
                raise ValueError("features at the start of training, and the target, must be finite, and not all 0")
            features, target = drawn * np.sqrt(power), drawn @ teacher
            aligned, dimensions = power @ teacher**2 / (size * (teacher**2).sum()), (power.sum() / size) ** 2
        return {
            "target_alignment": (
                aligned, "alignment of the kernel of the features at the start of training with the target"),
            "probe_r_squared": (
                left_out(features[:samples], target[:samples]),
                "R² of a ridge readout of these features on as many samples, each predicted from the others"),
            "participation_ratio_start": (dimensions, "participation ratio of the features at the start of training"),
        }  # fmt: skip

    return measured_by_run(data, of_run)


def left_out(features, target):
    """R² of predictions of a target (n,) from features (n, units), of each sample from all others, by ridge regression
    without a constant: the best over `STRENGTHS`. NaN where target or features do not vary."""
    kernel, spread = features @ features.T, ((target - target.mean()) ** 2).sum()
    if not (spread > 0 and np.trace(kernel) > 0):
        return np.nan
    values, vectors = np.linalg.eigh(kernel)
    errors = leave_one_out(values.clip(min=0), vectors, target, STRENGTHS * (np.trace(kernel) / len(values)))
    return 1 - (errors**2).sum(-1).min() / spread
