"""Compare datasets: make one of several."""

import xarray as xr

from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.open_job(argv, "compare", __doc__) as (job, compare, arguments):
        job.save(plugin_job.of_data(compare, xr.Dataset, arguments))


if __name__ == "__main__":
    command_line.run(main)
