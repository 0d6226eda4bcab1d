"""One form for all that asks for the same."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from carryover.config import configuration
from carryover.config.canonical import canonical
from carryover.config.parameters import as_flags
from carryover.workflow import startup
from carryover.workflow.sweep import Sweep, Wildcards

KINDS = {
    "rate": {"type": "number", "default": 0.1},
    "count": {"type": "integer", "default": 3},
    "loud": {"type": "boolean", "default": False},
    "name": {"type": "string", "default": "1"},
    "scales": {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}], "default": [1.0]},
}
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "rate": st.floats(-1e9, 1e9) | st.integers(-9, 9) | st.just(0.1),
        "count": st.integers(-9, 9),
        "loud": st.booleans(),
        "name": st.sampled_from(["1", "1.0", "a"]),
        "scales": st.sampled_from([1, 1.0, [1], [1.0, 2], [2, 1]]),
    },
)


@given(VALUES, st.randoms())
def test_it_asks_for_the_same_and_has_one_form(values, random):
    own = canonical(values, KINDS)
    assert canonical(own, KINDS) == own
    order = list(values)
    random.shuffle(order)
    assert as_flags(canonical({name: values[name] for name in order}, KINDS)) == as_flags(own)

    def resolved(asked):  # what a job would be told, by hand
        every = {name: kind["default"] for name, kind in KINDS.items()} | asked
        return {name: value if isinstance(value, list) else [value] for name, value in every.items()}

    assert resolved(own) == resolved(values)
    assert all(resolved(own)[name] != resolved({})[name] for name in own)


ASKED = """
experiments:
  toy:
    family: diagonal
    seeds: 4
    task: {dimension: 12}
    pretrain: {samples: 16}
    finetune:
      samples: [4, 8]
      overlap: [0.0, 0.5]
      grids:
        one: {protocol: [single_task, finetuning], solver: exact, rescale: [1.0, 0.1]}
        two: {protocol: single_task, solver: descent, learning_rate: 0.001}
    split: [rescale]
    measures: {risk: {}, sparsity: {largest_k: 4}}
curves: {relu_penalty: {points: 11, auxiliary_magnitude: 1.0}}
claims:
  exact_limit: {data: {risk: toy/risk}}
  other: {check: exact_limit, data: {risk: toy/risk}, options: {}}
"""
SAME = {
    "a number spelled otherwise": ("0.001", "1.0e-3"),
    "a whole number for a number": ("[0.0, 0.5]", "[0, 0.5]"),
    "a whole number for an axis": ("[1.0, 0.1]", "[1, 0.1]"),
    "one value for a list of it": ("auxiliary_magnitude: 1.0", "auxiliary_magnitude: [1.0]"),
    "a default written out": ("dimension: 12", "dimension: 12, auxiliary_norm: l2"),
    "a default of a measure": ("{risk: {}", "{risk: null"),
    "a default of a curve": ("points: 11", "readout: 0, points: 11"),
    "keys of a section": ("protocol: single_task, solver: descent", "solver: descent, protocol: single_task"),
    "keys of a curve": ("points: 11, auxiliary_magnitude: 1.0", "auxiliary_magnitude: 1.0, points: 11"),
    "a list of protocols": ("[single_task, finetuning]", "[finetuning, single_task]"),
    "the order of grids": ("""        one: {protocol: [single_task, finetuning], solver: exact, rescale: [1.0, 0.1]}
        two: {protocol: single_task, solver: descent, learning_rate: 0.001}""",
        """        two: {protocol: single_task, solver: descent, learning_rate: 0.001}
        one: {protocol: [single_task, finetuning], solver: exact, rescale: [1.0, 0.1]}"""),
    "the order of claims": ("""  exact_limit: {data: {risk: toy/risk}}
  other: {check: exact_limit, data: {risk: toy/risk}, options: {}}""",
        """  other: {check: exact_limit, data: {risk: toy/risk}}
  exact_limit: {data: {risk: toy/risk}}"""),
}  # fmt: skip
OTHER = {
    "a number": ("0.001", "0.002"),
    "values in another order, which is the order of runs": ("[0.0, 0.5]", "[0.5, 0.0]"),
    "a value that is not the default": ("dimension: 12", "dimension: 12, auxiliary_norm: l1"),
}


@pytest.fixture(scope="module")
def jobs(request):
    """{output: (its words, the words of all its inputs)} of a configuration's text."""
    schema = configuration.schema()

    def of(text):
        made = Sweep(yaml.safe_load(text), schema, request.config.rootpath / "scripts")
        return made, {path: startup.words(made, rule, wildcards) for rule, wildcards, path in made.jobs()}

    return of


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_what_asks_for_the_same_makes_the_same_jobs(jobs, old, new):
    assert ASKED.count(old) == 1
    assert jobs(ASKED.replace(old, new))[1] == jobs(ASKED)[1]


@pytest.mark.parametrize(("old", "new"), OTHER.values(), ids=OTHER)
def test_what_asks_for_something_else_does_not(jobs, old, new):
    assert ASKED.count(old) == 1
    assert jobs(ASKED.replace(old, new))[1] != jobs(ASKED)[1]


def test_a_command_by_hand_that_asks_for_the_same_is_no_difference(jobs):
    made, words = jobs(ASKED)
    wildcards = Wildcards(experiment="toy", point="protocol~single_task_rescale~1.0_solver~descent", block=0)
    (own,) = (told for path, told in words.items() if f"{wildcards.point}/0.nc" in path and "measure" not in path)
    assert own[own.index("--learning-rate") + 1] == "0.001"
    by_hand = ["1e-3" if word == "0.001" else word for word in own]
    command = ["scripts/finetune.py", *by_hand, "--tolerance", "1e-10", "--output", "out.nc"]
    assert list(startup.changed_parameters(made, "finetune", wildcards, {"command": command})) == []
    command[command.index("--tolerance") + 1] = "1e-9"
    (said,) = startup.changed_parameters(made, "finetune", wildcards, {"command": command})
    assert said == "tolerance 1e-09, now 1e-10"
