"""Measure every network of one finetuned shard."""

from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.provenance.job_record import Job
from carryover.workflow import measuring


def main(argv):
    def add(parser):
        parser.add_argument("--finetuned", required=True, type=Path, metavar="FILE", help="shard to measure")

    module, p, arguments = command_line.plugin(argv, "measures", "measure", __doc__, add)
    with Job(
        rule="measure",
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        inputs=[arguments.finetuned, *measuring.also_read(module, arguments.finetuned)],
        outputs=arguments.output,
        modules=["measure", module.__name__],
    ) as job:
        job.save(measuring.measured(module, p, arguments.finetuned))


if __name__ == "__main__":
    command_line.run(main)
