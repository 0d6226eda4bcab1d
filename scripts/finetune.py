"""Train one shard of an experiment on its main task, from pretrained networks or from scratch."""

from carryover import cli, stage


def main(argv):
    stage.main("finetune", argv, __doc__)


if __name__ == "__main__":
    cli.run(main)
