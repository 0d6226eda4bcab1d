"""Check one group of claims against the datasets."""

from carryover.claims.support import checks, headlines
from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.started(argv, "check_claims", __doc__) as (job, check, arguments):
        found = plugin_job.of_data(check, dict, arguments)
        definitions = headlines.definitions(arguments.output[0].stem, found)
        job.save(checks.table(found, definitions, arguments.data, job.portable_result))


if __name__ == "__main__":
    command_line.run(main)
