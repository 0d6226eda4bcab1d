"""Measure every network of one finetuned shard."""

from pathlib import Path

from carryover.workflow import collecting, command_line, plugin_job


def add_shard(parser):
    parser.add_argument("--finetuned", required=True, type=Path, metavar="FILE", help="shard to measure")


def inputs(module, arguments):
    return [arguments.finetuned, *collecting.also_read(module, arguments.finetuned)]


def main(argv):
    started = plugin_job.started(argv, "measure", "measures", __doc__, add_shard, inputs=inputs)
    with started as (job, module, p, arguments):
        job.save(collecting.measured(module, p, arguments.finetuned))


if __name__ == "__main__":
    command_line.run(main)
