"""Compute a theory curve, which needs no training."""

from carryover.workflow import command_line, plugin_job


def main(argv):
    without_data = {"add": lambda parser: None, "inputs": lambda *_: []}
    with plugin_job.started(argv, "curve", "theory.curves", __doc__, **without_data) as (job, module, p, _):
        job.save(module.compute(p))


if __name__ == "__main__":
    command_line.run(main)
