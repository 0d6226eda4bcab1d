"""Train one shard of an experiment on its main task, from pretrained networks or from scratch."""

from carryover.workflow import command_line, training_job

if __name__ == "__main__":
    command_line.run(lambda argv: training_job.main("finetune", argv, __doc__))
