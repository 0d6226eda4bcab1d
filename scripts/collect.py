"""Put the shards of an experiment together along their runs: measured ones, or finetuned ones, which it measures."""

from carryover.workflow import collecting, command_line

if __name__ == "__main__":
    command_line.run(collecting.main)
