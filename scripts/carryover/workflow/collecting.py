"""The shards of an experiment, measured and put together along their runs.

A shard is a file with one dataset or several, whose dimension `run` counts trained networks. `measure` is the `Plugin`
of a measure, and `p` the model with its options.
"""

from pathlib import Path

import numpy as np
import xarray as xr

from carryover import labels, runs
from carryover.config import parameters, plugins
from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow import command_line
from carryover.workflow.plugin_job import check_type, extra_files, name_missing


def main(argv):
    """`collect.py SHARD … --family NAME [--measure NAME OPTIONS] --output FILE`, of which `argv` are the words.

    With `--measure` the shards are finetuned ones, and are measured here; without, other jobs have measured them.
    """
    parser = command_line.parser("collect.py", "Put the shards of an experiment together along their runs.")
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="shards, in the order of their runs")
    parser.add_argument("--measure", metavar="MEASURE", choices=plugins.names("measures"), help="measure these "
                        "finetuned shards; its own flags may follow")  # fmt: skip
    parser.add_argument("--family", required=True, choices=plugins.names("families"), help="whose runs these are")
    arguments, words = parser.parse_known_args(argv)
    name, measure, model, others = arguments.measure, None, parameters.Model, []
    modules = [f"carryover/families/{arguments.family}/labels.json"]
    if name:
        measure = plugins.find("measures", name)
        model, others = measure.model, extra_files(measure, arguments.shards)
        modules.append(measure.code)
    p = command_line.options(model, words, "collect.py")
    # Selecting and joining only copies numbers, so the bits are the same on every machine; a measure that computes
    # numbers may round differently on another.
    with command_line.job(
        "collect",
        arguments,
        inputs=[*arguments.shards, *others],
        modules=modules,
        parameters={"family": arguments.family, **({"measure": name, "options": p} if measure else {})},
        portable="rounding" if measure and not measure.selects else "bits",
    ) as job:
        shards = (measure_shard(measure, p, path) if measure else store.load_all(path) for path in arguments.shards)
        job.save(labels.attach_labels(collect([part for parts in shards for part in parts]), arguments.family))


def measure_shard(measure, p, path):
    """A list of datasets: the measure of each dataset in the file `path` that it applies to; UserError for none.

    A measure that only selects gets datasets whose values are not read yet, so that only the selected ones are.
    """
    if measure.selects:
        found = store.load_all(path, lambda part: _take(measure, p, part, path))
    else:
        results = (_take(measure, p, part, path) for part in store.load_all(path))
        found = [result for result in results if result is not None]
    if not found:
        raise UserError(f"{measure.name} measures nothing in {path}, whose runs are of others or lack what it needs.")
    return found


def _take(measure, p, part, path):
    """The measure of the dataset `part` of the file `path`; None where it does not apply, or lacks a variable it needs.

    Raises UserError where the result has lost a coordinate of the runs.
    """
    # A parameter that `applies_to` names has one value for all runs of a dataset: the first one tells.
    conditions = {axis: values for axis, values in measure.applies_to.items() if axis in part.coords}
    if not parameters.applies(conditions, {axis: part[axis].values[0] for axis in conditions}):
        return None
    if not all(part.data_vars.keys() & set(names) for names in measure.any_of):
        return None
    with name_missing(measure, [path]):
        result = check_type(measure, xr.Dataset, measure(part, p=p))
    if lost := [name for name in runs.coordinates(part) if name not in result.coords]:
        raise UserError(f"{measure.full_name} has lost what its runs are: {', '.join(lost)}; "
                        "carryover.runs.with_run_coordinates adds these coordinates.")  # fmt: skip
    return result


def collect(parts):
    """One dataset with the runs of all datasets `parts`, one after the other; a coordinate of runs that a part lacks is
    NaN, or empty text, there."""
    known = {name: shard[name] for shard in parts for name in shard.coords if shard[name].dims == ("run",)}
    nothing = {name: "" if values.dtype.kind in "UO" else np.nan for name, values in known.items()}
    filled = [
        shard.assign_coords({n: ("run", [nothing[n]] * shard.sizes["run"]) for n in known.keys() - shard.coords.keys()})
        for shard in parts
    ]
    together = xr.concat(filled, dim="run", join="outer", combine_attrs="drop_conflicts")
    # `concat` drops attributes that differ, but a coordinate needs its label: the last part's is kept.
    for name, values in known.items():
        together[name].attrs = values.attrs
    return together
