"""Files of a configuration lie over each other as in Snakemake; what YAML takes without a word, and a reader would not
expect, is refused with its line."""

import json
from copy import deepcopy

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from snakemake.settings.types import ConfigSettings
from snakemake.utils import update_config

from carryover.config import files
from carryover.errors import UserError


def read(folder, text, name="mine.yaml"):
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return files.read(path, name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "mine.yaml: line 3: the key a stands in this section already, in line 1"),
        ("x:\n  seeds: 1\n  b: {}\n  seeds: 2\n", "line 4: the key seeds stands in this section already, in line 2"),
        ("x: [{a: 1, a: 1}]\n", "line 1: the key a stands in this section already, in line 1"),
        ("seeds: 010\n", "line 1: YAML reads 010 as 8: write the number that is meant, or text in quotes"),
        ("a:\n- 1:30\n", "line 2: YAML reads 1:30 as 90"),
        ("a: 1:30.5\n", "line 1: YAML reads 1:30.5 as 90.5"),
        ("a: &x\n  b: *x\n", "line 1: what stands there contains itself"),
        ("a: [\n", "mine.yaml cannot be read: while parsing a flow node did not find expected node content line 2"),
        ("a: 1\nb: \udcff\n", "mine.yaml: line 2 is no text in UTF-8"),
        ("- 1\n", "mine.yaml: it must hold sections of keys and values"),
        ("[" * 100_000, "mine.yaml: line 1: more than 100 sections or lists lie in each other"),
        ("- " * 100_000, "mine.yaml: line 1: more than 100 sections or lists lie in each other"),
    ],
)
def test_a_mistake_is_said_with_its_line(text, said, tmp_path):
    with pytest.raises(UserError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("", {}),
        ("\ufeffa: 1\n", {"a": 1}),  # as some editors save it
        ("a: &x {b: 1}\nc: {<<: *x, b: 2}\nd: *x\n", {"a": {"b": 1}, "c": {"b": 2}, "d": {"b": 1}}),
        ("a: 0x1f\nb: '010'\nc: 0.5\nd: 0\ne: 1e-3\n", {"a": 31, "b": "010", "c": 0.5, "d": 0, "e": "1e-3"}),
        ("1: a\n'1': b\n", {1: "a", "1": "b"}),
    ],
)
def test_what_is_meant_is_taken(text, content, tmp_path):
    assert read(tmp_path, text) == content


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


# Few keys, so that files have them in common, with null, text, lists and empty or filled sections under them.
keys = st.sampled_from("abc")
sections = st.dictionaries(
    keys,
    st.recursive(
        st.none() | st.integers(0, 3) | st.sampled_from(["", "x"]) | st.lists(st.integers(0, 3), max_size=2),
        lambda inner: st.dictionaries(keys, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(sections, st.lists(sections, max_size=3))
@example({"a": {"b": 1}}, [{"a": {"b": 2}}, {"a": {"b": None}}])
@example({"a": [1]}, [{"a": {}}])
@example({"a": [1]}, [{"a": {"b": 1}}])
@example({"a": None}, [{"a": {}}])
@example({"a": {"b": 1}}, [{"a": None}])
@example({"a": 1, "b": 2}, [{"b": 3, "a": {}}])
def test_files_lie_over_each_other_as_in_snakemake(tmp_path_factory, first, overlays):
    """As `snakemake.workflow.Workflow` has it: what --configfile names, the Snakefile's own file, and that again."""
    folder = tmp_path_factory.mktemp("merged")
    names = [folder / f"{number}.json" for number in range(len(overlays))]
    for name, overlay in zip(names, overlays, strict=True):
        name.write_text(json.dumps(overlay))
    over = ConfigSettings(configfiles=names).overwrite_config
    theirs = deepcopy(over)
    update_config(theirs, deepcopy(first))
    update_config(theirs, over)
    told = deepcopy([first, *overlays])
    assert json.dumps(files.merged(first, *overlays)) == json.dumps(theirs)  # and in the same order
    assert [first, *overlays] == told, "what was laid over each other has changed"
