"""What a job works on, in the same words for jobs to come and for jobs that were measured."""

from dataclasses import dataclass, field
from math import prod

from carryover.config.artifacts import MADE_OF_DATA, STAGES

# Whole numbers that hardly say how much there is to do: batches do not change the sum, teachers are only sampled from.
_NOT_SIZES = (
    *("batch", "batch_size", "together", "seed", "leading"),
    *("main_features", "auxiliary_features", "teacher_units"),
)


_APART, _AUXILIARY = ("multi_task",), "auxiliary_samples"
"""Protocols that learn from more than the main task's samples, so that they cost otherwise than all others: from these,
which a job of any other protocol names and leaves alone."""


@dataclass(frozen=True)
class Work:
    """`kind` names the code: (rule, family or plug-in, solver where there is one, protocol where that costs
    otherwise), for measures the family as well.

    `asked` is the whole of the job's parameters with defaults filled in, as a hashable value, and the number of seeds.
    `sizes` are what the cost may grow with, by name: the number of `runs` (seeds times the lengths of all lists that
    are worked on in one job) and every parameter that is a whole number, by its mean where it is a list;
    of an accuracy its reciprocal, since steps are as many more as they are smaller. `experiment` is the one whose
    shards it makes or measures, "" for others.
    """

    kind: tuple
    asked: tuple
    sizes: dict = field(compare=False)
    experiment: str = field(default="", compare=False)


def of_job(made, rule, wildcards):
    """The `Work` of a job of a `Sweep`, by its rule and wildcards."""
    if rule in STAGES:
        family = made.config["experiments"][wildcards.experiment]["family"]
        values = made.points(wildcards.experiment, rule)[wildcards.point].values
        seeds = len(made.blocks(wildcards.experiment)[int(wildcards.block)])
        return stage(made.schema, rule, family, values, seeds, wildcards.experiment)
    if rule == "measure":
        finetuned = of_job(made, STAGES[-1], wildcards)
        values = made.config["experiments"][wildcards.experiment]["measures"][wildcards.measure]
        return measure(made.schema, wildcards.measure, values or {}, finetuned)
    if rule == "collect":
        return collect(len(made.shards("{point}{block}")(wildcards)), made.selects(wildcards.measure))
    if rule == "curve":
        return plugin(made.schema, rule, "curves", wildcards.curve, made.config["curves"][wildcards.curve] or {})
    if rule in MADE_OF_DATA:
        name, entry = MADE_OF_DATA[rule].entry(made.config, wildcards)
        return of_data(made.schema, rule, name, entry.get("options", {}))
    return Work((rule,), (), {})


def stage(schema, rule, family, values, seeds, experiment=""):
    """The `Work` of a shard of a stage, from the values of its parameters that are not the defaults."""
    known = _filled(schema, f"{family}.{rule}", values)
    kind = (rule, family, known["solver"]) if "solver" in known else (rule, family)
    sizes, protocol = _sizes(known, seeds), known.get("protocol")
    auxiliary = sizes.pop(_AUXILIARY, 0.0)
    if protocol in _APART:
        kind += (protocol,)
        sizes["samples"] = sizes.get("samples", 0.0) + auxiliary
    return Work(kind, (seeds, *known.items()), sizes, experiment)


def measure(schema, name, values, finetuned):
    """The `Work` of measuring one finetuned shard, of which `finetuned` is the `Work`."""
    known = _filled(schema, f"measures.{name}", values)
    sizes = {f"{name}.{size}": value for size, value in _sizes(known).items() if size != "runs"}
    of_network = {size: value for size, value in finetuned.sizes.items() if not size.startswith("max_")}
    kind = ("measure", name, finetuned.kind[1])
    asked = (*known.items(), finetuned.kind, finetuned.asked)
    return Work(kind, asked, {**of_network, **sizes}, finetuned.experiment)


def collect(shards, selected):
    """The `Work` of collecting this many shards, measured ones or what is selected of finetuned ones."""
    return Work(("collect", "selected" if selected else "measured"), (shards,), {"shards": shards})


def of_data(schema, rule, name, values):
    """The `Work` of what is made of data; `name` is that of its plug-in, if there are any."""
    kind = MADE_OF_DATA[rule]
    return plugin(schema, rule, *((kind.plugins, name) if kind.plugins else (kind.section, "options")), values)


def plugin(schema, rule, folder, name, values):
    """The `Work` of a curve, or of what is made of data."""
    known = _filled(schema, f"{folder}.{name}", values)
    return Work((rule, name), tuple(known.items()), _sizes(known))


def _filled(schema, definition, values):
    """All parameters of a fragment of the schema, in its order; lists as tuples."""
    properties = schema["$defs"][definition]["properties"]
    return {name: _value(values.get(name, kind["default"]), kind) for name, kind in properties.items()}


def _value(value, kind):
    if kind.get("several") == "one job" and not isinstance(value, list):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _sizes(known, seeds=1):
    lists = {name: value for name, value in known.items() if isinstance(value, tuple)}
    means = {name: sum(v) / len(v) for name, v in lists.items() if v and all(type(item) is int for item in v)}
    numbers = {name: value for name, value in known.items() if type(value) is int} | means
    sizes = {name: float(value) for name, value in numbers.items() if name not in _NOT_SIZES and value > 0}
    steps = {"1/accuracy": 1 / known["accuracy"]} if "accuracy" in known else {}
    return {"runs": float(seeds * prod(len(v) or 1 for v in lists.values())), **sizes, **steps}
