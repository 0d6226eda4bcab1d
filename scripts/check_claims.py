"""Check one group of claims against the datasets."""

import xarray as xr

from carryover.claims.support import checks, groups
from carryover.workflow import command_line, plugin_job
from carryover.workflow.plugin_job import add_data, of_data


def add_papers(parser):
    parser.add_argument("--paper", default=checks.OWN, metavar="NAME", help="paper of the claims (default: ours)")
    parser.add_argument(
        "--elsewhere", nargs="+", type=command_line.pair, default=[], metavar="CLAIM=NAME", help="paper of one claim"
    )


def main(argv):
    started = plugin_job.started(argv, "check_claims", "claims", __doc__, add_data, add_papers)
    with started as (job, module, p, arguments):
        checked = of_data(module.check, xr.Dataset, arguments, p)
        for row in checked.to_dataframe().itertuples():
            print(f"{row.verdict:10} {row.statement}: {row.statistic:.3g} [{row.low:.3g}, {row.high:.3g}]")
        elsewhere = dict(arguments.elsewhere)
        job.save(groups.with_origin(checked, arguments.paper, elsewhere, arguments.data, job.portable_result))


if __name__ == "__main__":
    command_line.run(main)
