"""Pretrain one shard of an experiment on its auxiliary task."""

from carryover import cli, stage


def main(argv):
    stage.main("pretrain", argv, __doc__)


if __name__ == "__main__":
    cli.run(main)
