"""Compute a theory curve, which needs no training."""

import xarray as xr

from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.open_job(argv, "curve", __doc__) as (job, compute, arguments):
        job.save(plugin_job.check_type(compute, xr.Dataset, compute(p=arguments.p)))


if __name__ == "__main__":
    command_line.run(main)
