"""Measure every network of one finetuned shard."""

import importlib
from pathlib import Path

from carryover import cli, parameters, store
from carryover.provenance import Job


def main(argv):
    name = cli.chosen(argv, "measures", "measure", __doc__)
    module = importlib.import_module(f"carryover.measures.{name}")
    parser = cli.parser(f"measure.py {name}", __doc__)
    parser.add_argument("--finetuned", required=True, type=Path, metavar="FILE", help="shard to measure")
    parameters.add_arguments(parser, module.Parameters)
    arguments = parser.parse_args(argv[1:])
    p = parameters.from_arguments(module.Parameters, arguments)
    with Job(
        rule="measure",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        inputs=[arguments.finetuned],
        outputs=arguments.output,
        modules=["measure", f"carryover.measures.{name}"],
    ) as job:
        job.save(module.measure(store.load(arguments.finetuned), p))


if __name__ == "__main__":
    cli.run(main)
