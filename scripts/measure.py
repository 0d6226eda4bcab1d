"""Measure every network of one finetuned shard."""

from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.config import parameters
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.workflow.asked_in_vain import lacking, name_of, numbers_needed


def also_read(module, shard):
    """The files that a measure reads besides the shard: those that attributes of the shard, its `READS`, name."""
    names = getattr(module, "READS", ())
    attributes = store.load(shard, lambda whole: whole[[]]).attrs if names else {}
    return [file for name in names for file in parameters.files(attributes.get(name))]


def main(argv):
    def add(parser):
        parser.add_argument("--finetuned", required=True, type=Path, metavar="FILE", help="shard to measure")

    module, p, arguments = command_line.plugin(argv, "measures", "measure", __doc__, add)
    with Job(
        rule="measure",
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        inputs=[arguments.finetuned, *also_read(module, arguments.finetuned)],
        outputs=arguments.output,
        modules=["measure", module.__name__],
    ) as job:
        finetuned = store.load(arguments.finetuned)
        with (
            lacking(name_of(module.measure), arguments.finetuned, finetuned),
            numbers_needed(module.measure, {"finetuned": finetuned}),
        ):
            measured = module.measure(finetuned, p)
        job.save(measured)


if __name__ == "__main__":
    command_line.run(main)
