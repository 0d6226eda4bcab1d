"""Compare datasets: make one of several."""

import xarray as xr

from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.started(argv, "compare", "claims.comparisons", __doc__) as (job, module, p, arguments):
        job.save(plugin_job.of_data(module.compare, xr.Dataset, arguments, p))


if __name__ == "__main__":
    command_line.run(main)
