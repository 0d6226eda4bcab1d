"""Put all groups of checks together in one table, with the claims that they make up and their verdicts."""

from carryover.report import claims_page
from carryover.workflow import command_line

if __name__ == "__main__":
    command_line.run(claims_page.main)
