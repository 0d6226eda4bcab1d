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
