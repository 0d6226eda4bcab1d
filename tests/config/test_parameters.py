"""One model gives flags and checks, and they say the same."""

import argparse
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, PositiveInt

from carryover.config import parameters
from carryover.config.parameters import Model, parameter
from toy.refusal import refused


class Toy(Model):
    samples: tuple[PositiveInt, ...] = parameter((16,), "training samples")
    solver: Literal["exact", "descent"] = parameter("exact", "how", axis=True)
    learning_rate: Annotated[float, Field(gt=0, le=10)] = parameter(0.1, "step", when={"solver": ("descent",)})
    centred: bool = parameter(True, "whether")
    offsets: tuple[float, ...] = parameter((0.0,), "how far")
    title: str = parameter("", "above")


def parse(*flags):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parameters.add_arguments(parser, Toy)
    return parameters.from_arguments(Toy, parser.parse_args(flags))


numbers = st.floats(-1e4, 1e4).filter(lambda x: x >= 0 or x < -1e-3)  # which argparse takes for numbers


@given(
    st.floats(1e-300, 10), st.lists(numbers, min_size=1, unique=True), st.booleans(), st.sampled_from(["", "-a", "a b"])
)
def test_flags_come_back_as_they_went_in(rate, offsets, centred, title):
    toy = Toy(samples=(1, 2), learning_rate=rate, offsets=tuple(offsets), centred=centred, title=title)
    assert parse(*parameters.as_flags(dict(toy))) == toy
    assert parse() == Toy()


@pytest.mark.parametrize(("values", "sentence"), [
    ({"sampels": 3}, ": unknown key sampels; allowed here: samples, solver, learning_rate, centred, offsets, title."),
    ({"samples": 0}, "samples: Input should be greater than 0, not 0."),
    ({"samples": True}, "samples: Input should be a valid integer, not True."),
    ({"samples": [8, 4, 8]}, "samples: a value is given twice."),
    ({"learning_rate": float("nan")}, "learning_rate: Input should be a finite number, not nan."),
    ({"learning_rate": True}, "learning_rate: Input should be a valid number, not True."),
    ({"centred": "yes"}, "centred: Input should be a valid boolean, not 'yes'."),
    ({"solver": "newton"}, "solver: Input should be 'exact' or 'descent', not 'newton'."),
])  # fmt: skip
def test_what_is_not_allowed_is_one_sentence_with_the_key(values, sentence):
    said = refused(parameters.read, Toy, values, "toy.")
    assert said == f"toy{sentence if sentence.startswith(':') else '.' + sentence}"


def test_yaml_s_text_for_a_number_is_a_number():
    assert parameters.read(Toy, {"learning_rate": "1e-6", "offsets": ["1e3", 2]}, "") == Toy(
        learning_rate=1e-6, offsets=(1000.0, 2.0)
    )


def test_a_path_stands_for_its_file_or_for_the_files_of_its_folder_and_of_those_in_it(tmp_path):
    class Reading(Model):
        folder: str = parameter("", "images", path=True)
        weights: str = parameter("", "file", path=True)
        name: str = parameter("", "no file")

    none = ("images/.hidden", "images/below/.hidden", "images/.git/d.bin", "images/below/deeper/e.bin")
    for name in (*none, "images/b.bin", "images/a.bin", "images/below/c.bin", "weights.pth"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    both = Reading(folder=str(tmp_path / "images"), weights=str(tmp_path / "weights.pth"), name=str(tmp_path))
    expected = [tmp_path / name for name in ("images/a.bin", "images/b.bin", "images/below/c.bin", "weights.pth")]
    assert parameters.input_files(both) == list(map(str, expected))
    assert parameters.input_files(Reading(folder=str(tmp_path / "missing"))) == []
