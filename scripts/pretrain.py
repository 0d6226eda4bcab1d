"""Pretrain one shard of an experiment on its auxiliary task."""

from carryover.workflow import command_line, training_job

if __name__ == "__main__":
    command_line.run(lambda argv: training_job.main("pretrain", argv, __doc__))
