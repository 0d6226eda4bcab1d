"""Compute a theory curve, which needs no training."""

import xarray as xr

from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.started(argv, "curve", "theory.curves", __doc__) as (job, module, p, _):
        job.save(plugin_job.checked(module.compute(p), xr.Dataset, module.compute))


if __name__ == "__main__":
    command_line.run(main)
