"""Files of a configuration lie over each other as in Snakemake; what YAML takes without a word, and a reader would not
expect, is refused with its line."""

import json
from copy import deepcopy

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from snakemake.settings.types import ConfigSettings
from snakemake.utils import update_config

from carryover.audit import project
from carryover.config import files
from carryover.errors import UserError
from carryover.workflow import startup
from toy.small_project import ROOT


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


def test_json_is_held_to_the_same(tmp_path):
    assert read(tmp_path, '{"a": {"b": 1e-05}}', "mine.json") == {"a": {"b": 1e-05}}
    with pytest.raises(UserError, match=r"mine\.json: the key b stands twice in a section"):
        read(tmp_path, '{"a": {"b": 1, "b": 1}}', "mine.json")
    with pytest.raises(UserError, match=r"mine\.json cannot be read: "):
        read(tmp_path, "[" * 100_000, "mine.json")


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


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.dictionaries(st.text(), values, max_size=4))
def test_what_was_written_is_read_as_yaml_reads_it(tmp_path_factory, content):
    text = yaml.safe_dump(content, allow_unicode=True)
    assert read(tmp_path_factory.mktemp("read"), text) == yaml.safe_load(text)


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


def laid_over_the_projects(folder, *overlays):
    """The configuration of the project itself with overlays of these texts over it, as the commands read it."""
    names = [folder / f"{number}.yaml" for number in range(len(overlays))]
    for name, overlay in zip(names, overlays, strict=True):
        name.write_text(overlay)
    return startup.valid_sweep(project.configuration([ROOT / "config/config.yaml", *names]), ROOT).config


def test_null_over_an_overlay_takes_away_what_lies_below_that_as_well(tmp_path):
    samples = "experiments: {{diagonal_overlap: {{finetune: {{samples: {}}}}}}}"
    one = laid_over_the_projects(tmp_path, samples.format([5, 6]))
    assert one["experiments"]["diagonal_overlap"]["finetune"]["samples"] == [5, 6]
    none = laid_over_the_projects(tmp_path, samples.format([5, 6]), samples.format("null"))
    assert "samples" not in none["experiments"]["diagonal_overlap"]["finetune"]  # so the parameter has its default


def test_an_empty_section_of_papers_leaves_their_list(tmp_path):
    assert laid_over_the_projects(tmp_path, "papers: {}")["experiments"]


@pytest.mark.parametrize("key", ["papers", "claims_beside"])
def test_null_in_the_place_of_a_section_is_refused(tmp_path, key):
    with pytest.raises(UserError, match=f"configuration: {key}: None is not allowed; "):
        laid_over_the_projects(tmp_path, f"{key}: null")
