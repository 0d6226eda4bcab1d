"""Configurations that ask for the same, however they are written, ask for the same jobs."""

import random

from cases import SCRIPTS
from configurations import experiment
from grammar import SCHEMA, resolved
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from carryover.errors import UserError
from carryover.workflow.sweep import Sweep

DEFINITIONS = SCHEMA["$defs"]


def asked(spec):
    """{(rule, wildcards): flags} of all jobs; UserError where the configuration is refused."""
    made = Sweep({"experiments": {"toy": spec}}, SCHEMA, SCRIPTS)
    return {(rule, tuple(sorted(w.items()))): tuple(made.flags(rule)(w)) for rule, w, _ in made.jobs()}


def rewritten(section, kinds, rng, spelled=True):
    """The same parameters in another order, as other numbers and lists, with defaults spelled out."""
    always = [name for name, kind in kinds.items() if "when" not in resolved(kind) and name not in section]
    section = section | {n: resolved(kinds[n])["default"] for n in always if spelled and rng.random() < 0.3}
    made = {name: _otherwise(value, resolved(kinds[name]), rng) for name, value in section.items() if name in kinds}
    left = {name: value for name, value in section.items() if name not in kinds}
    return dict(rng.sample(items := [*made.items(), *left.items()], len(items)))


def _otherwise(value, kind, rng):
    single = kind.get("anyOf", [kind])[0]
    if isinstance(value, list) and len(value) == 1 and rng.random() < 0.5:
        value = value[0]
    elif "anyOf" in kind and not isinstance(value, list) and rng.random() < 0.5:
        value = [value]
    if single.get("type") == "number":
        whole = lambda one: int(one) if float(one).is_integer() and rng.random() < 0.5 else float(one)  # noqa: E731
        value = [whole(one) for one in value] if isinstance(value, list) else whole(value)
    if isinstance(value, list) and kind.get("several") == "jobs":
        value = rng.sample(value, len(value))
    return value


@settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(spec=experiment(share=0), seed=st.integers(0, 2**16))
def test_the_same_in_other_words_is_the_same(spec, seed):
    try:
        before = asked(spec)
    except UserError:
        assume(False)
    rng, family = random.Random(seed), spec["family"]
    other = dict(rng.sample(list(spec.items()), len(spec)))
    for stage in ("pretrain", "finetune"):
        kinds = DEFINITIONS[f"{family}.{stage}"]["properties"]
        own = {name: kind for name, kind in kinds.items() if name not in DEFINITIONS[f"{family}.task"]["properties"]}
        other[stage] = rewritten(spec[stage], own, rng)
        if "grids" in spec[stage]:
            grids = [rewritten(grid, kinds, rng, spelled=False) for grid in spec[stage]["grids"].values()]
            other[stage]["grids"] = {f"g{place}": grid for place, grid in enumerate(rng.sample(grids, len(grids)))}
    other["task"] = rewritten(spec["task"], DEFINITIONS[f"{family}.task"]["properties"], rng)
    other["measures"] = {
        name: rewritten(own, DEFINITIONS[f"measures.{name}"]["properties"], rng) or rng.choice([{}, None])
        for name, own in rng.sample(list(spec["measures"].items()), len(spec["measures"]))
    }
    assert asked(other) == before
