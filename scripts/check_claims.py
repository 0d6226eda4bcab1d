"""Check one group of claims against the datasets."""

from carryover.claims.support import checks
from carryover.config import claims
from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.open_job(argv, "check_claims", __doc__, said=claims.of_group) as (job, check, arguments):
        found = plugin_job.of_data(check, dict, arguments)
        columns = claims.definitions(arguments.output[0].stem, found)
        job.save(checks.table(found, columns, arguments.data, job.portable_result))


if __name__ == "__main__":
    command_line.run(main)
