"""Check one group of claims against the datasets."""

import argparse

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
import numpy as np
import xarray as xr

from carryover.claims.support.checks import MEANINGS, OWN, origin
from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import portability
from carryover.provenance.job_record import Job
from carryover.workflow import artifact_jobs


def add_papers(parser):
    parser.add_argument("--paper", default=OWN, metavar="NAME", help="paper of the claims (default: %(default)s)")
    parser.add_argument(
        "--elsewhere", nargs="+", type=pair, default=[], metavar="CLAIM=NAME", help="paper of one claim"
    )


def pair(word):
    """(claim, paper) from CLAIM=NAME."""
    claim, equals, paper = word.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{word!r} must be CLAIM=NAME")
    return claim, paper


def papers(checked, paper, elsewhere):
    """The paper of each claim of a group: `paper`, unless it is ours or {claim: paper} says otherwise.

    Raises UserError for other names.
    """
    names = checked["claim"].values.tolist()
    if unknown := elsewhere.keys() - set(names):
        raise UserError(f"--elsewhere {min(unknown)}: this group has no such claim; it has: {', '.join(names)}.")
    ours = [own for own, _ in map(origin, checked["section"].values.tolist())]
    return [elsewhere.get(name, OWN if own else paper) for name, own in zip(names, ours, strict=True)]


def with_origin(checked, papers, files, portable):
    """A group of claims that says of which papers they are, which datasets it reads (their files' names, after the
    folder that holds them), and what `provenance.portability` promises of those elsewhere."""
    data = ", ".join(f"{file.parent.name}/{file.stem}" for file in files)
    about = [section for _, section in map(origin, checked["section"].values.tolist())]
    return checked.assign(
        section=("claim", about, attributes(MEANINGS["section"])),
        paper=("claim", papers, attributes(MEANINGS["paper"])),
        data=("claim", [data] * checked.sizes["claim"], attributes("datasets that the group reads")),
        portable=("claim", [portable] * checked.sizes["claim"], attributes(portability.MEANING)),
    )


def check_names(checked):
    """Refuse a group in which a name stands for two claims: files and pages tell claims by it."""
    names, counts = np.unique(checked["claim"].values, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"two claims of this group have the name {names[counts.argmax()]}: names must differ.")


def main(argv):
    module, p, arguments = command_line.plugin(
        argv, "claims", "check_claims", __doc__, command_line.add_data, add_papers
    )
    elsewhere = dict(arguments.elsewhere)
    with Job(
        rule="check_claims",
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        inputs=arguments.data,
        outputs=arguments.output,
        modules=["check_claims", module.__name__],
    ) as job:
        checked = artifact_jobs.made_of_roles(module.check, xr.Dataset, arguments, p)
        check_names(checked)
        for row in checked.to_dataframe().itertuples():
            print(f"{row.verdict:10} {row.statement}: {row.statistic:.3g} [{row.low:.3g}, {row.high:.3g}]")
        named = papers(checked, arguments.paper, elsewhere)
        job.save(with_origin(checked, named, arguments.data, job.portable_result))


if __name__ == "__main__":
    command_line.run(main)
