"""How much of the target the pretrained features cannot represent; "Features are fate", equations 151–156, Fig. 3d."""

from functools import partial

from carryover.runs import measured_by_run
from carryover.theory.kernels import function_power, function_variance, rkhs_residual


def measure(data, p):
    """‖P⊥f*‖²/‖f*‖² over the inputs' distribution, between 0 and 1, (run,), of the target f* and either features; the
    risk of linear transfer to endless samples, ‖P⊥f*‖²/Var f*; and the cutoff that they hang on.

    Raises UserError naming a run whose weights are not finite.
    """
    return measured_by_run(data, partial(_shares, cutoff=p.cutoff))


def _shares(network, cutoff):
    readout, directions = network["teacher_readout"].values, network["teacher_directions"].values
    after, before = (
        rkhs_residual(readout, directions, network[name].values, cutoff=cutoff) for name in ("first", "start_first")
    )
    power, variance = function_power(readout, directions), function_variance(readout, directions)
    return {
        "out_of_rkhs": (after / power,
                        "share of the target's mean square outside the span of the pretrained features"),
        "initial_out_of_rkhs": (
            before / power,
            "share of the target's mean square outside the span of the features before pretraining"),
        "least_risk": (after / variance,
                       "least risk of a readout on the pretrained features, as a share of the target's variance"),
        "cutoff": (cutoff, "eigenvalues of the features' kernel, relative to the largest, up to which a direction "
                   "counts as outside"),
    }  # fmt: skip
