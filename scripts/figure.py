"""Draw one figure, as PNG and PDF."""

from carryover.workflow import command_line, figure_job

if __name__ == "__main__":
    command_line.run(figure_job.main)
