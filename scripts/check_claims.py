"""Check one group of claims against the datasets."""

from carryover.claims.support import groups
from carryover.workflow import command_line, plugin_job


def main(argv):
    started = plugin_job.started(argv, "check_claims", "claims", __doc__, inputs=groups.inputs)
    with started as (job, module, p, arguments):
        checked = groups.table(arguments.output[0].stem, plugin_job.of_data(module.check, arguments, p))
        job.save(groups.with_origin(checked, arguments.data, job.portable_result))


if __name__ == "__main__":
    command_line.run(main)
