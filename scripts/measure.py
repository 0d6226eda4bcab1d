"""Measure every network of one finetuned shard."""

from carryover.workflow import collecting, command_line, plugin_job


def main(argv):
    with plugin_job.started(argv, "measure", __doc__) as (job, module, arguments):
        job.save(collecting.measured(module, arguments.p, *arguments.data))


if __name__ == "__main__":
    command_line.run(main)
