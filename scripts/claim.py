"""Check one group of claims against the datasets."""

from carryover import cli, store
from carryover.provenance import Job


def main(argv):
    module, p, arguments = cli.plugin(argv, "claims", "claim", __doc__, cli.add_data)
    with Job(
        rule="claim",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        inputs=arguments.data,
        outputs=arguments.output,
        modules=["claim", module.__name__],
    ) as job:
        checked = module.check(cli.by_role(arguments, store.load), p)
        for row in checked.to_dataframe().itertuples():
            print(f"{row.verdict:10} {row.statement}: {row.statistic:.3g} [{row.low:.3g}, {row.high:.3g}]")
        job.save(checked)


if __name__ == "__main__":
    cli.run(main)
