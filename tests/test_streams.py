"""Generators are the same everywhere and for ever, and different wherever an argument is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carryover.streams import generator


def bits(*arguments):
    """The first raw bits: stable over NumPy's versions, which its distributions are not promised to be."""
    return tuple(int(x) for x in generator(*arguments).bit_generator.random_raw(2))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("overlap", "", 0, "teacher"), (15070953820070949295, 1718214027676831455)),
        (("overlap", (40, 0.75), 3, "inputs"), (3605139443281453721, 1678435360082402282)),
        (
            ("größe", {"n": 16, "rescale": 1e-3, "arm": None}, 10**12, "weights"),
            (17753535198156279518, 16264379180956110987),
        ),
    ],
)
def test_reference_values(arguments, expected):
    assert bits(*arguments) == expected


def test_every_argument_counts():
    others = [
        ("a", "b", 0, "c"), ("x", "b", 0, "c"), ("a", "x", 0, "c"), ("a", "b", 1, "c"), ("a", "b", 0, "x"),
        ("c", "b", 0, "a"), ("a", ("b",), 0, "c"), ("a", {"b": 0}, 0, "c"), ("a", None, 0, "c"), ("a", "", 0, "c"),
        ("a", (), 0, "c"), ("a", {}, 0, "c"), ("a", 0, 0, "c"), ("a", "0", 0, "c"), ("a", False, 0, "c"),
        ("ab", "c", 0, "d"), ("a", "bc", 0, "d"), ("a", ("b,c",), 0, "d"), ("a", ("b", "c"), 0, "d"),
        ("a", 'b", 0, "c', 0, "d"), ("a", "b", 0, 'c", 0, "d'),
    ]  # fmt: skip
    assert len({bits(*arguments) for arguments in others}) == len(others)


plain = st.recursive(
    st.none() | st.booleans() | st.text(max_size=3) | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=5,
)


def marked(value):
    """The value with bools told from numbers, which Python takes for equal."""
    if isinstance(value, tuple):
        return tuple(marked(item) for item in value)
    if isinstance(value, dict):
        return {key: marked(item) for key, item in value.items()}
    return ("bool", value) if isinstance(value, bool) else value


@given(plain, plain)
def test_equal_conditions_and_they_alone_share_numbers(one, other):
    assert (bits("e", one, 0, "s") == bits("e", other, 0, "s")) == (marked(one) == marked(other))


def test_a_condition_that_is_no_value_is_refused():
    with pytest.raises(ValueError, match=r"^condition must be of text, finite numbers"):
        generator("e", float("nan"), 0, "s")
