"""Compute a theory curve, which needs no training."""

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
import xarray as xr

from carryover.provenance.job_record import Job
from carryover.workflow import artifact_jobs


def main(argv):
    module, p, arguments = command_line.plugin(argv, "theory.curves", "curve", __doc__)
    with Job(
        rule="curve",
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        outputs=arguments.output,
        modules=["curve", module.__name__],
    ) as job:
        job.save(artifact_jobs.made(module.compute, xr.Dataset, p))


if __name__ == "__main__":
    command_line.run(main)
