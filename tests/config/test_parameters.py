"""One dataclass gives flags, schema and checks, and they say the same."""

import argparse
from dataclasses import dataclass

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.config import parameters
from carryover.config.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Toy:
    samples: tuple[int, ...] = parameter((16,), "training samples", minimum=1)
    solver: str = parameter("exact", "how", choices=("exact", "descent"), axis=True)
    learning_rate: float = parameter(0.1, "step", above=0, maximum=10, when={"solver": ("descent",)})
    centred: bool = parameter(True, "whether")
    offsets: tuple[float, ...] = parameter((0.0,), "how far")


def parse(*flags):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parameters.add_arguments(parser, Toy)
    return parameters.from_arguments(Toy, parser.parse_args(flags))


def test_flags_left_out_take_the_defaults():
    assert parse() == Toy()


def test_flags_come_back_as_they_went_in():
    toy = Toy(samples=(1, 2), solver="descent", learning_rate=1e-7, centred=False)
    assert parse(*parameters.as_flags(vars(toy))) == toy


@given(st.floats(min_value=1e-300, max_value=10))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_floats_survive_the_command_line_exactly(rate):
    assert parse("--learning-rate", repr(rate)).learning_rate == rate


@given(st.lists(st.floats(-parameters.LARGEST, parameters.LARGEST), min_size=1, unique=True))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_negative_floats_are_no_flags(offsets):
    back = parse(*parameters.as_flags({"offsets": offsets, "samples": [2]})).offsets
    assert [str(value) for value in back] == [str(value) for value in offsets]


@given(st.one_of(st.integers(-3, 20), st.floats(-1, 20), st.sampled_from(["exact", "descent", "none"])))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_schema_and_command_line_refuse_the_same_values(value):
    section = parameters.fragment(Toy)
    for name, kind in (("samples", int), ("learning_rate", (int, float)), ("solver", str)):
        if not isinstance(value, kind):
            continue
        valid = jsonschema.Draft202012Validator(section).is_valid({name: value})
        try:
            parse(parameters.flag(name), str(value))
            accepted = True
        except (parameters.ParameterError, SystemExit):
            accepted = False
        assert valid == accepted, (name, value)


def test_repeated_values_are_refused_on_the_command_line_as_in_the_configuration():
    sentence = "--samples 8 4 8: it must be a whole number ≥ 1, or a list of such without repeats."
    with pytest.raises(parameters.ParameterError) as error:
        parse("--samples", "8", "4", "8")
    assert str(error.value) == sentence
    assert not jsonschema.Draft202012Validator(parameters.fragment(Toy)).is_valid({"samples": [8, 4, 8]})


def test_conditions_hold_where_every_axis_has_a_named_value():
    assert parameters.applies({}, {})
    assert parameters.applies({"solver": ["descent"]}, {"solver": "descent", "other": 1})
    assert not parameters.applies({"solver": ["descent"]}, {"solver": "exact"})
    assert not parameters.applies({"solver": ["descent"]}, {})


def test_a_path_stands_for_its_file_or_for_the_files_of_its_folder_and_of_those_in_it(tmp_path):
    @dataclass(frozen=True, kw_only=True)
    class Reading:
        folder: str = parameter("", "images", path=True)
        weights: str = parameter("", "file", path=True)
        name: str = parameter("", "no file")

    none = ("images/.hidden", "images/below/.hidden", "images/.git/d.bin", "images/below/deeper/e.bin")
    for name in (*none, "images/b.bin", "images/a.bin", "images/below/c.bin", "weights.pth"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    both = Reading(folder=str(tmp_path / "images"), weights=str(tmp_path / "weights.pth"), name=str(tmp_path))
    expected = [tmp_path / name for name in ("images/a.bin", "images/b.bin", "images/below/c.bin", "weights.pth")]
    assert parameters.files_read(both) == list(map(str, expected))
    assert parameters.files_read(Reading(folder=str(tmp_path / "missing"))) == []
    assert parameters.fragment(Reading)["properties"]["weights"]["path"] is True
