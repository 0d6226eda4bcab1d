"""How the features before finetuning relate to the target: the alignment of their kernel with it, the R² of a linear
readout of as many samples as the run has, and the participation ratio.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.measures.dimensionality import cka, participation_ratio
from carryover.networks.relu import Weights
from carryover.runs import measure_each_run, teacher_units
from carryover.streams import generator
from carryover.tasks.sparse import sphere
from carryover.training.kernel_ridge import leave_one_out

STRENGTHS = 10.0 ** np.arange(-8, 3)
"""Ridge penalties of the readout, in units of the mean square of the features; the one with the best R² is taken."""


class TargetAlignment(Model):
    inputs: Annotated[int, Field(ge=2)] = parameter(1000, "inputs at which responses of ReLU networks are taken")


@plugins.measure(needs=[("start_first_plus", "auxiliary_directions")], applies_to={"protocol": ("finetuning",)})
def target_alignment(data, p: TargetAlignment):
    """Three measures (run,) of the features from which finetuning starts, with the main task's teacher f* as target.

    The alignment is the centred kernel-target alignment (Cortes, Mohri and Rostamizadeh 2012), E k(x, x') f*(x) f*(x')
    / √(E k² E f*²), between 0 and 1. For diagonal networks, it and the participation ratio are exact; for ReLU networks
    they are estimated from `inputs` random inputs. The readout has random samples, the same for all runs. Raises
    UserError naming a run whose features or target are constant or not finite.
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
        # Features w₁ ⊙ x of both paths, x of covariance 1: the kernel is Σ_d c_d x_d x'_d with c = Σ w₁² over paths, so
        # that E k f* f* = Σ c β*² and E k² = Σ c².
        else:
            first = np.stack([network[f"start_first_{sign}"].values for sign in ("plus", "minus")]).astype(float)
            power, teacher = (first**2).sum(0), network["teacher"].values.astype(float)
            norm = np.linalg.norm(power)
            if not (np.isfinite(norm) and norm > 0 and teacher.any()):
                raise ValueError("features at the start of training, and the target, must be finite, and not all 0")
            features, target = drawn * np.sqrt(power), drawn @ teacher
            aligned, dimensions = power @ teacher**2 / (norm * (teacher**2).sum()), (power.sum() / norm) ** 2
        return {
            "target_alignment": (
                aligned, "alignment of the kernel of the features at the start of training with the target"),
            "probe_r_squared": (
                leave_one_out_fit(features[:samples], target[:samples]),
                "R² of a ridge readout of these features on as many samples, each predicted from the others"),
            "participation_ratio_start": (dimensions, "participation ratio of the features at the start of training"),
        }  # fmt: skip

    return measure_each_run(data, of_run)


def leave_one_out_fit(features, target):
    """Leave-one-out R² of ridge regression without intercept of a target (n,) on features (n, units): the best over
    `STRENGTHS`. NaN where the target does not vary or all features are 0."""
    kernel, variation = features @ features.T, ((target - target.mean()) ** 2).sum()
    if not (variation > 0 and np.trace(kernel) > 0):
        return np.nan
    values, vectors = np.linalg.eigh(kernel)
    errors = leave_one_out(values.clip(min=0), vectors, target, STRENGTHS * (np.trace(kernel) / len(values)))
    return 1 - (errors**2).sum(-1).min() / variation
