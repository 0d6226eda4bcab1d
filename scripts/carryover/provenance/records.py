"""The records of a folder of results: all of them, and those that a result depends on."""

from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import job_record, store


def all_records(results):
    """{name: record} of all results under a folder; a name is the path in the record.

    Results that were moved or copied as a whole keep their names. Raises UserError where a record is damaged.
    """
    if not Path(results).is_dir():
        raise UserError(f"{results} is no folder: name the one with the results")
    by_name: dict = {}
    for path in sorted(Path(results).rglob("*.json")):
        with store.regular(path) as file:
            if b'"carryover_record"' not in file.read(100):  # keys are sorted, so every record begins with this one
                continue
        # A job's results have one record, a copy next to each: the end of the path tells which result this one is of.
        record, end = job_record.read(path), path.relative_to(results).with_suffix("").parts
        by_name |= {name: record for name in record["outputs"] if Path(name).parts[-len(end) :] == end}
    return by_name


def upstream(name, records):
    """{name: record} of a result and of all results that it depends on, from {name: record} of all results."""
    visited, todo = {}, [name]
    while todo:
        if (result := todo.pop()) in records and result not in visited:
            visited[result] = records[result]
            todo += records[result]["inputs"]
    return visited


def jobs(records):
    """One record of each job: a figure's formats are outputs of one."""
    return list({tuple(sorted(record["outputs"])): record for record in records}.values())


def commits(records):
    """Commits of the code, `<commit> with changes` where tracked files differed, sorted; none outside a repository."""
    states = {(git["commit"], git["dirty"]) for record in records if (git := record["git"]) and git["commit"]}
    return [commit + (" with changes" if dirty else "") for commit, dirty in sorted(states)]
