"""Measuring the finetuned networks of a shard, in a job of its own or where shards are collected."""

from carryover.config import parameters
from carryover.config.parameters import applies
from carryover.provenance import store
from carryover.workflow.command_line import naming_what_is_missing


def measured(module, p, path):
    """What the plug-in of a measure finds in each dataset of a shard that it applies to.

    A measure that only selects (`SELECTS = True`) is given datasets whose values are not read yet.
    """
    if getattr(module, "SELECTS", False):
        return store.load_all(path, lambda part: module.measure(part, p))
    found = []
    for part in store.load_all(path):
        if _applies(module, part):
            with naming_what_is_missing(module.measure, [path]):
                found.append(module.measure(part, p))
    return found


def _applies(module, part):
    conditions = parameters.model_of("measures", module.__name__.rpartition(".")[2]).APPLIES_TO
    return applies(conditions, {axis: part[axis].values[0] for axis in conditions if axis in part.coords})


def also_read(module, path):
    """The files that a measure reads besides the shard: those that attributes of the shard, its `READS`, name."""
    names = getattr(module, "READS", ())
    parts = store.load_all(path, lambda part: part[[]]) if names else []
    return list(dict.fromkeys(f for part in parts for name in names for f in parameters.files(part.attrs.get(name))))
