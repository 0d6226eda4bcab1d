"""Compute a theory curve, which needs no training."""

import xarray as xr

from carryover import cli, ingredients
from carryover.provenance import Job


def main(argv):
    module, p, arguments = cli.plugin(argv, "curves", "curve", __doc__)
    with Job(
        rule="curve",
        parameters=p,
        wildcards=cli.wildcards(arguments),
        outputs=arguments.output,
        modules=["curve", module.__name__],
    ) as job:
        job.save(ingredients.made(module.compute, xr.Dataset, p))


if __name__ == "__main__":
    cli.run(main)
