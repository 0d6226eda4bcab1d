"""Measure every network of one finetuned shard."""

from carryover.workflow import collecting, command_line, plugin_job


def main(argv):
    with plugin_job.open_job(argv, "measure", __doc__) as (job, measure, arguments):
        job.save(collecting.measure_shard(measure, arguments.p, *arguments.data))


if __name__ == "__main__":
    command_line.run(main)
