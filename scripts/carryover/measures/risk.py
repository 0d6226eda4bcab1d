"""Population risk of the main task, at the end of training and at its best along the way."""

from dataclasses import dataclass

import xarray as xr


@dataclass(frozen=True, kw_only=True)
class Parameters:
    pass


def measure(data, p):
    """Risks of shape (run,). Inputs have identity covariance, so the mean squared error is ‖β − β*‖²."""
    final = ((data["coefficients"].isel(output=0, drop=True) - data["teacher"]) ** 2).sum("input")
    risks = xr.Dataset({"risk_final": final, **data[["risk_best", "loss", "evaluations", "converged"]]})
    risks["risk_final"].attrs = {"long_name": "risk at the end of training", "units": "1"}
    return risks
