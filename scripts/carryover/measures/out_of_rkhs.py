"""How much of the target the pretrained features cannot represent; "Features are fate", equations 151–156, Fig. 3d."""

from dataclasses import dataclass

import numpy as np

from carryover.config.parameters import parameter
from carryover.runs import measured, naming
from carryover.theory.kernels import function_power, rkhs_residual

APPLIES_TO = {"protocol": ("pretrained",)}
MEANING = {
    "out_of_rkhs": "share of the target's mean square outside the span of the pretrained features",
    "initial_out_of_rkhs": "share of the target's mean square outside the span of the features before pretraining",
}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    cutoff: float = parameter(1e-10, "eigenvalues of the features' kernel, relative to the largest, up to which a "
                              "direction counts as outside", above=0, maximum=1)  # fmt: skip


def measure(data, p):
    """‖P⊥f*‖²/‖f*‖² over the inputs' distribution, between 0 and 1, (run,), of the target f* and either features.

    Raises UserError naming a run whose weights are not finite.
    """
    values = np.array([_shares(data.isel(run=run), p.cutoff) for run in range(data.sizes["run"])])
    return measured(data, {name: ("run", values[:, column]) for column, name in enumerate(MEANING)}, MEANING)


def _shares(network, cutoff):
    readout, directions = network["teacher_readout"].values, network["teacher_directions"].values
    with naming(network):
        outside = [
            rkhs_residual(readout, directions, network[name].values, cutoff=cutoff) for name in ("first", "start_first")
        ]
    return np.array(outside) / function_power(readout, directions)
