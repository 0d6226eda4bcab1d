"""Check one group of claims against the datasets."""

import importlib

from carryover import cli, parameters, store
from carryover.provenance import Job


def main(argv):
    name = cli.chosen(argv, "claims", "claim", __doc__)
    module = importlib.import_module(f"carryover.claims.{name}")
    parser = cli.parser(f"claim.py {name}", __doc__)
    cli.add_data(parser)
    parameters.add_arguments(parser, module.Parameters)
    arguments = parser.parse_args(argv[1:])
    p = parameters.from_arguments(module.Parameters, arguments)
    with Job(
        rule="claim",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        inputs=arguments.data,
        outputs=arguments.output,
        modules=["claim", f"carryover.claims.{name}"],
    ) as job:
        checked = module.check(dict(zip(arguments.roles, map(store.load, arguments.data), strict=True)), p)
        for row in checked.to_dataframe().itertuples():
            print(f"{row.verdict:10} {row.statement}: {row.statistic:.3g} [{row.low:.3g}, {row.high:.3g}]")
        job.save(checked)


if __name__ == "__main__":
    cli.run(main)
