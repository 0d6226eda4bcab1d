"""Compare datasets: make one of several."""

import xarray as xr

from carryover.workflow import command_line, plugin_job
from carryover.workflow.plugin_job import add_data, of_data


def main(argv):
    with plugin_job.started(argv, "compare", "claims.comparisons", __doc__, add_data) as (job, module, p, arguments):
        job.save(of_data(module.compare, xr.Dataset, arguments, p))


if __name__ == "__main__":
    command_line.run(main)
