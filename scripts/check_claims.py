"""Check one group of claims against the datasets."""

from carryover.claims.support import checks, headlines
from carryover.config import plugins
from carryover.workflow import command_line, plugin_job
from carryover.workflow.plugin_job import add_data, of_data


def main(argv):
    def inputs(module, arguments):
        return [*arguments.data, headlines.source()]

    started = plugin_job.started(argv, "check_claims", "claims", __doc__, add_data, inputs=inputs)
    with started as (job, _, p, arguments):
        found = of_data(plugins.check_of(argv[0]), dict, arguments, p)
        said = headlines.definitions(arguments.output[0].stem, found)
        checked = checks.table(found, said, arguments.data, job.portable_result)
        for row in checked.to_dataframe().itertuples():
            print(f"{row.verdict:10} {row.statement}: {row.statistic:.3g} [{row.low:.3g}, {row.high:.3g}]")
        job.save(checked)


if __name__ == "__main__":
    command_line.run(main)
