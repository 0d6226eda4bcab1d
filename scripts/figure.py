"""Draw one figure, as PNG and PDF."""

from carryover.figures.drawing import style
from carryover.workflow import command_line, plugin_job


def main(argv):
    with plugin_job.open_job(argv, "figure", __doc__, files=[style.FILE]) as (job, draw, arguments):
        style.use(style.FILE)
        style.save(plugin_job.of_data(draw, style.Figure, arguments), job, *arguments.output)


if __name__ == "__main__":
    command_line.run(main)
