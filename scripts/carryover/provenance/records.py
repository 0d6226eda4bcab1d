"""The records of a folder of results: all of them, and those of what a result was made of."""

from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import job_record, store


def all_records(results):
    """{name: record} of all results under a folder; a name is the path in the record.

    Results that were moved or copied as a whole keep their names. Raises UserError where a record is damaged.
    """
    if not Path(results).is_dir():
        raise UserError(f"{results} is no folder: name the one with the results")
    found = {}
    for path in sorted(Path(results).rglob("*.json")):
        with store.regular(path) as file:
            if b'"carryover_record"' not in file.read(100):  # keys are sorted, so every record begins with this one
                continue
        record, end = job_record.read(path), path.relative_to(results).with_suffix("").parts
        found |= {name: record for name in record["outputs"] if Path(name).parts[-len(end) :] == end}
    return found


def upstream(name, records):
    """{name: record} of a result and of all that it was made of, by {name: record} of all results."""
    found, todo = {}, [name]
    while todo:
        if (one := todo.pop()) in records and one not in found:
            found[one] = records[one]
            todo += records[one]["inputs"]
    return found


def jobs(records):
    """One record of each job: a figure's formats are outputs of one."""
    return list({tuple(sorted(record["outputs"])): record for record in records}.values())


def commits(records):
    """Commits of the code, `<commit> with changes` where tracked files differed, sorted; none outside a repository."""
    states = {(record["git"]["commit"], record["git"]["dirty"]) for record in records if record["git"]}
    return [commit + (" with changes" if dirty else "") for commit, dirty in sorted(states)]
