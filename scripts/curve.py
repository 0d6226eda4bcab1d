"""Compute a theory curve, which needs no training."""

import importlib

from carryover import cli, parameters
from carryover.provenance import Job


def main(argv):
    name = cli.chosen(argv, "curves", "curve", __doc__)
    module = importlib.import_module(f"carryover.curves.{name}")
    parser = cli.parser(f"curve.py {name}", __doc__)
    parameters.add_arguments(parser, module.Parameters)
    arguments = parser.parse_args(argv[1:])
    p = parameters.from_arguments(module.Parameters, arguments)
    with Job(
        rule="curve",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        outputs=arguments.output,
        modules=["curve", f"carryover.curves.{name}"],
    ) as job:
        job.save(module.compute(p))


if __name__ == "__main__":
    cli.run(main)
