"""Compute a theory curve, which needs no training."""

from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.started(argv, "curve", __doc__) as (job, compute, arguments):
        job.save(compute(arguments.p))


if __name__ == "__main__":
    command_line.run(main)
