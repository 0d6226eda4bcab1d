"""What is known of a run beside the theorem is handed on with its labels and coordinates, and nothing else."""

import numpy as np
import xarray as xr

from carryover.config.parameters import model_of
from carryover.families import running
from carryover.families.wide_relu import exact, finetune
from carryover.measures import ntk_bound

P = model_of("families.wide_relu", "finetune")(
    dimension=3, width=8, protocol="single_task", solver="exact", samples=(2, 4), distance=(0.5,), test_samples=9
)


def test_runs_are_handed_on_with_their_labels():
    data = running.run(finetune, P, "toy", [0, 1], exact.solve)
    measured = ntk_bound.measure(data, model_of("measures", "ntk_bound")())
    assert set(measured.data_vars) == set(ntk_bound.NAMES)
    assert set(measured.coords) >= {"seed", "samples", "distance", "protocol", "solver"}
    for name, variable in measured.variables.items():
        xr.testing.assert_identical(variable, data[name].variable)
        assert variable.dims == ("run",)
    np.testing.assert_allclose(measured["bound"] ** 2 * measured["samples"], 4 * measured["ntk_norm"] ** 2)
