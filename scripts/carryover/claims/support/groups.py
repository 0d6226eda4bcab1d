"""Groups of checks as datasets of their own: what they are made of, and whether a file is one."""

from carryover.claims.support import checks, headlines
from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import portability, store


def table(group, found):
    """The dataset of a group of checks, {name: Check}, with statements and bounds of claims.yaml."""
    return checks.table(found, headlines.definitions(group, found))


def inputs(_, arguments):
    """The files that a job of checks reads."""
    return [*arguments.data, headlines.source()]


def with_origin(checked, files, portable):
    """A group of checks with the datasets that it reads (their files' names, after the folder that holds them), and
    what `provenance.portability` promises of it elsewhere."""
    data = ", ".join(f"{file.parent.name}/{file.stem}" for file in files)
    return checked.assign(
        data=("claim", [data] * checked.sizes["claim"], attributes("datasets that the group reads")),
        portable=("claim", [portable] * checked.sizes["claim"], attributes(portability.MEANING)),
    )


def load(file):
    """A group of checks with its origin; UserError, naming the file, for a dataset of another kind."""
    found = store.load(file)
    lacking = [name for name in ("claim", *checks.MEANINGS, "data", "portable") if name not in found]
    if lacking or "verdict_alone" in found:
        why = f"it has no {lacking[0]}" if lacking else "it is a table of them"
        raise UserError(f"{file} is no group of claims, as check_claims.py makes one: {why}.")
    return found
