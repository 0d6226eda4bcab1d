"""Check one group of claims against the datasets."""

from carryover.claims.support import checks, headlines
from carryover.config import plugins
from carryover.workflow import command_line, plugin_job


def main(argv):
    def inputs(_, arguments):
        return [*arguments.data, headlines.source()]

    with plugin_job.started(argv, "check_claims", "claims", __doc__, inputs=inputs) as (job, _, p, arguments):
        found = plugin_job.of_data(plugins.function_of("claims", argv[0]), dict, arguments, p)
        definitions = headlines.definitions(arguments.output[0].stem, found)
        job.save(checks.table(found, definitions, arguments.data, job.portable_result))


if __name__ == "__main__":
    command_line.run(main)
