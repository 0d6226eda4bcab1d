"""Groups of checks as datasets of their own: of which papers and data they are, and whether a file is one."""

import numpy as np

from carryover.claims.support.checks import MEANINGS, OWN, origin
from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import portability, store


def with_origin(checked, paper, elsewhere, files, portable):
    """A group of checks with their papers, and the datasets that it reads.

    Parameters
    ----------
    checked : xarray.Dataset
        The group, as `checks.checked` makes it.
    paper : str
        Paper of all checks but those that say they are ours, and those of which `elsewhere` {check: paper} names
        another.
    files : sequence of Path
        Datasets that the group reads, named by file and folder.
    portable : str
        What `provenance.portability` promises of the group elsewhere.

    Raises
    ------
    UserError
        For two checks of one name, and for a check in `elsewhere` that the group has not.
    """
    names, counts = np.unique(checked["claim"].values, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"two claims of this group have the name {names[counts.argmax()]}: names must differ.")
    names = checked["claim"].values.tolist()
    if unknown := elsewhere.keys() - set(names):
        raise UserError(f"--elsewhere {min(unknown)}: this group has no such claim; it has: {', '.join(names)}.")
    ours, sections = zip(*map(origin, checked["section"].values.tolist()), strict=True)
    papers = [elsewhere.get(name, OWN if own else paper) for name, own in zip(names, ours, strict=True)]
    data = ", ".join(f"{file.parent.name}/{file.stem}" for file in files)
    return checked.assign(
        section=("claim", list(sections), attributes(MEANINGS["section"])),
        paper=("claim", papers, attributes(MEANINGS["paper"])),
        data=("claim", [data] * len(names), attributes("datasets that the group reads")),
        portable=("claim", [portable] * len(names), attributes(portability.MEANING)),
    )


def load(file):
    """A group of checks with its origin; UserError, naming the file, for a dataset of another kind."""
    found = store.load(file)
    # Older groups have no deviation.
    needed = ("claim", *(name for name in MEANINGS if name != "deviation"), "data", "portable")
    lacking = [name for name in needed if name not in found]
    if lacking or "verdict_alone" in found:
        why = f"it has no {lacking[0]}" if lacking else "it is a table of them"
        raise UserError(f"{file} is no group of claims, as check_claims.py makes one: {why}.")
    return found
