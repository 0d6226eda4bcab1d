"""Put the measured shards of an experiment together along their runs."""

from pathlib import Path

import xarray as xr

from carryover import cli, store
from carryover.provenance import Job


def collect(shards):
    """One dataset with the shards' runs one after the other; what a shard lacks is NaN, or empty text, there."""
    coordinates = {name for shard in shards for name in shard.coords if shard[name].dims == ("run",)}
    described = {name: shard[name].attrs for shard in shards for name in coordinates & set(shard.coords)}
    filled = [
        shard.assign_coords({name: ("run", [""] * shard.sizes["run"]) for name in coordinates - set(shard.coords)})
        for shard in shards
    ]
    together = xr.concat(filled, dim="run", join="outer", combine_attrs="drop_conflicts")
    for name, attributes in described.items():
        together[name].attrs = attributes
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
