"""Put the shards of an experiment together along their runs: measured ones, or finetuned ones, which it measures."""

import argparse
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
import numpy as np
import xarray as xr

from carryover import labels
from carryover.config import parameters, plugins
from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.workflow import measuring, shards


def collect(parts):
    """One dataset with the shards' runs one after the other; what a shard lacks is NaN, or empty text, there."""
    known = {name: shard[name] for shard in parts for name in shard.coords if shard[name].dims == ("run",)}
    nothing = {name: "" if values.dtype.kind in "UO" else np.nan for name, values in known.items()}
    filled = [
        shard.assign_coords({n: ("run", [nothing[n]] * shard.sizes["run"]) for n in known.keys() - shard.coords.keys()})
        for shard in parts
    ]
    together = xr.concat(filled, dim="run", join="outer", combine_attrs="drop_conflicts")
    for name, values in known.items():
        together[name].attrs = values.attrs
    return together


def chosen(measure, words):
    """The plug-in of a measure and its parameters; (None, none) without one. UserError for an unknown measure."""
    if measure is not None and measure not in plugins.names("measures"):
        raise UserError(f"--measure {measure}: it must be one of {', '.join(plugins.names('measures'))}.")
    module = plugins.load(f"carryover.measures.{measure}") if measure else None
    kind = parameters.model_of("measures", measure) if module else parameters.Model
    own = argparse.ArgumentParser(prog="collect.py", allow_abbrev=False, add_help=False)
    parameters.add_arguments(own, kind)
    return module, parameters.from_arguments(kind, own.parse_args(words))


def main(argv):
    parser = command_line.parser("collect.py", __doc__)
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="shards, in the order of their runs")
    parser.add_argument("--measure", metavar="MEASURE", help="measure these finetuned shards; its own flags may follow")
    parser.add_argument("--family", required=True, help="the family whose runs these are")
    arguments, words = parser.parse_known_args(argv)
    if not (labels.FAMILIES / arguments.family).is_dir():
        raise UserError(f"there is no family {arguments.family}.")
    module, p = chosen(arguments.measure, words)
    others = [file for shard in arguments.shards for file in measuring.also_read(module, shard)] if module else []
    with Job(
        rule="collect",
        parameters={"family": arguments.family, **({"measure": arguments.measure, "options": p} if module else {})},
        wildcards=command_line.wildcards(arguments),
        inputs=[*arguments.shards, *dict.fromkeys(others)],
        outputs=arguments.output,
        modules=["collect", *([module.__name__] if module else [])],
        **({"portable": "bits"} if getattr(module, "SELECTS", True) else {}),
    ) as job:
        read = (lambda shard: measuring.measured(module, p, shard)) if module else store.load_all
        parts = shards.belonging({path: read(path) for path in arguments.shards}, arguments.shards)
        job.save(labels.labelled(collect(parts), arguments.family))


if __name__ == "__main__":
    command_line.run(main)
