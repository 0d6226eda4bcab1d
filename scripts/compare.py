"""Compare datasets: make one of several."""

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
import xarray as xr

from carryover.provenance.job_record import Job
from carryover.workflow import artifact_jobs


def main(argv):
    module, p, arguments = command_line.plugin(argv, "claims.comparisons", "compare", __doc__, command_line.add_data)
    with Job(
        rule="compare",
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        inputs=arguments.data,
        outputs=arguments.output,
        modules=["compare", module.__name__],
    ) as job:
        job.save(artifact_jobs.made_of_roles(module.compare, xr.Dataset, arguments, p))


if __name__ == "__main__":
    command_line.run(main)
