"""Put the measured shards of an experiment together along their runs."""

from pathlib import Path

import numpy as np
import xarray as xr

from carryover import cli, store
from carryover.provenance import Job


def collect(shards):
    """One dataset with the shards' runs one after the other; what a shard lacks is NaN, or empty text, there."""
    known = {name: shard[name] for shard in shards for name in shard.coords if shard[name].dims == ("run",)}
    nothing = {name: "" if values.dtype.kind in "UO" else np.nan for name, values in known.items()}
    filled = [
        shard.assign_coords({n: ("run", [nothing[n]] * shard.sizes["run"]) for n in known.keys() - shard.coords.keys()})
        for shard in shards
    ]
    together = xr.concat(filled, dim="run", join="outer", combine_attrs="drop_conflicts")
    for name, values in known.items():
        together[name].attrs = values.attrs
    return together


def main(argv):
    parser = cli.parser("collect.py", __doc__)
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="measured shards")
    arguments = parser.parse_args(argv)
    with Job(
        rule="collect",
        wildcards=cli.wildcards(arguments),
        inputs=arguments.shards,
        outputs=arguments.output,
        modules=["collect"],
    ) as job:
        job.save(collect([store.load(shard) for shard in arguments.shards]))


if __name__ == "__main__":
    cli.run(main)
