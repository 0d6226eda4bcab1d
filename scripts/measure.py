"""Measure every network of one finetuned shard."""

from pathlib import Path

from carryover.workflow import command_line, plugin_job


def add_shard(parser):
    parser.add_argument("--finetuned", required=True, type=Path, metavar="FILE", help="shard to measure")


def main(argv):
    with plugin_job.started(argv, "measure", "measures", __doc__, add_shard) as (job, module, p, arguments):
        job.save(plugin_job.measured(module, p, arguments.finetuned))


if __name__ == "__main__":
    command_line.run(main)
