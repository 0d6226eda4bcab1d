"""What a job writes is a record with all its parts; without any of them, or with an odd one, it is none."""

import copy

import pytest

from carryover.provenance import job_record, record_schema


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    path = tmp_path_factory.mktemp("layout") / "x.txt"
    (path.parent / "in.txt").write_text("x")
    told = {"parameters": {"a": 1}, "wildcards": {"b": "2"}, "seeds": [0], "inputs": [path.parent / "in.txt"]}
    with job_record.Job(
        rule="r", outputs=[path], modules=["carryover.provenance.store"], command=["s.py"], **told
    ) as job:
        job.path(path).write_text("x")
    return job_record.read(f"{path}.json")


def paths(value):
    """The keys that lead to each value within nested dictionaries and lists."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield [key]
        yield from ([key, *rest] for rest in paths(item))


# Nobody reads these, or only where they are there, or whatever they are.
FREE = {"carryover_record", "checksum", "pid", "cpu", "conda", "libc", "version"}
FREE_BELOW = {"parameters", "wildcards", "seeds"}


def test_every_part_that_is_read_must_be_there_and_of_its_form(record):
    assert record_schema.wrong(record) == []
    for *way, last in paths(record):
        if FREE & {*way, last} or FREE_BELOW & {*way}:
            continue
        odd = copy.deepcopy(record)
        inside = odd
        for key in way:
            inside = inside[key]
        for value in (object(), None):
            inside[last] = value
            expected = [] if (value, last) in ((None, "git"), (None, "accelerator")) else [[*way, last][0]]
            assert record_schema.wrong(odd) == expected, (way, last, value)


@pytest.mark.parametrize("duration", [float("nan"), 1e300, -1e300, "1", None])
def test_a_duration_that_has_no_end_is_odd(record, duration):
    assert record_schema.wrong({**record, "volatile": {**record["volatile"], "duration": duration}}) == ["volatile"]


def test_notes_are_none_or_whole(record):
    cause = {"verdict": "ALTERED", "cause": "x", "found": "y"}
    assert record_schema.wrong({**record, "notes": [{"reason": "x", "causes": [cause]}]}) == []
    for notes in ({}, ["x"], [{"reason": "x"}], [{"reason": "x", "causes": [{**cause, "found": None}]}]):
        assert record_schema.wrong({**record, "notes": notes}) == ["notes"]


@pytest.mark.parametrize("python", ["", "cpython", "cpython  3", " cpython 3", "cpython 3 11"])
def test_a_python_without_a_name_or_version_is_odd(record, python):
    assert record_schema.wrong({**record, "environment": {**record["environment"], "python": python}}) == [
        "environment"
    ]
