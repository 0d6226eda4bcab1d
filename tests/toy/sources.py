"""Hand-made mean-field networks beside the teachers of their target and source."""

import numpy as np
import xarray as xr

from toy.students import unit


def networks(first, second, start_first, directions, readout, kept):
    """A dataset as finetune.py's protocol `pretrained` writes it; all arguments with a leading axis of runs."""
    data = xr.Dataset(
        {
            "first": (("run", "unit", "input"), first),
            "second": (("run", "output", "unit"), second),
            "start_first": (("run", "unit", "input"), start_first),
            "teacher_directions": (("run", "teacher_unit", "input"), directions),
            "teacher_readout": (("run", "teacher_unit"), readout),
            "source_readout": (("run", "teacher_unit"), readout * kept),
        }
    )
    return data.assign_coords(seed=("run", np.arange(len(first))), output=["main"])


def drawn(seed=0, runs=2, units=12, inputs=5, teacher_units=4):
    """Arguments of `networks`: random ones, with half of the teacher's units kept."""
    rng = np.random.default_rng(seed)
    sizes = {"first": units, "start_first": units, "directions": teacher_units}
    vectors = {name: unit(rng.standard_normal((runs, count, inputs))) for name, count in sizes.items()}
    kept = np.arange(teacher_units) % 2 == 0
    readouts = {"second": rng.standard_normal((runs, 1, units)), "readout": rng.standard_normal((runs, teacher_units))}
    return {**vectors, **readouts, "kept": kept}
