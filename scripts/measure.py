"""Measure every network of one finetuned shard."""

from pathlib import Path

from carryover import cli, store
from carryover.provenance import Job


def main(argv):
    def add(parser):
        parser.add_argument("--finetuned", required=True, type=Path, metavar="FILE", help="shard to measure")

    module, p, arguments = cli.plugin(argv, "measures", "measure", __doc__, add)
    with Job(
        rule="measure",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        inputs=[arguments.finetuned],
        outputs=arguments.output,
        modules=["measure", module.__name__],
    ) as job:
        job.save(module.measure(store.load(arguments.finetuned), p))


if __name__ == "__main__":
    cli.run(main)
