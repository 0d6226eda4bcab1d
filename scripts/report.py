"""Put the figures, tables and claims of a results folder on one HTML page, with what their records say."""

from carryover.report import page
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(page.main)
