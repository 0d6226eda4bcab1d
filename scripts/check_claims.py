"""Check one group of claims against the datasets."""

import numpy as np
import xarray as xr

from carryover.claims.support.checks import MEANINGS, OWN, origin
from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import portability
from carryover.workflow import command_line, plugin_job
from carryover.workflow.plugin_job import add_data, of_data


def add_papers(parser):
    parser.add_argument("--paper", default=OWN, metavar="NAME", help="paper of the claims (default: %(default)s)")
    parser.add_argument("--elsewhere", nargs="+", default=[], metavar="CLAIM=NAME", help="paper of one claim")


def papers(checked, paper, elsewhere):
    """The paper of each claim of a group: `paper`, unless it is ours or {claim: paper} says otherwise.

    Raises UserError for other names, and for two claims of one name.
    """
    names, counts = np.unique(checked["claim"].values, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"two claims of this group have the name {names[counts.argmax()]}: names must differ.")
    names = checked["claim"].values.tolist()
    if unknown := elsewhere.keys() - set(names):
        raise UserError(f"--elsewhere {min(unknown)}: this group has no such claim; it has: {', '.join(names)}.")
    ours = [own for own, _ in map(origin, checked["section"].values.tolist())]
    return [elsewhere.get(name, OWN if own else paper) for name, own in zip(names, ours, strict=True)]


def with_origin(checked, papers, files, portable):
    """A group of claims with their papers, the datasets that it reads (their files' names, after the folder that holds
    them), and what `provenance.portability` promises of those elsewhere."""
    data = ", ".join(f"{file.parent.name}/{file.stem}" for file in files)
    about = [section for _, section in map(origin, checked["section"].values.tolist())]
    return checked.assign(
        section=("claim", about, attributes(MEANINGS["section"])),
        paper=("claim", papers, attributes(MEANINGS["paper"])),
        data=("claim", [data] * checked.sizes["claim"], attributes("datasets that the group reads")),
        portable=("claim", [portable] * checked.sizes["claim"], attributes(portability.MEANING)),
    )


def main(argv):
    started = plugin_job.started(argv, "check_claims", "claims", __doc__, add_data, add_papers)
    with started as (job, module, p, arguments):
        checked = of_data(module.check, xr.Dataset, arguments, p)
        named = papers(checked, arguments.paper, command_line.pairs(arguments.elsewhere, "--elsewhere"))
        for row in checked.to_dataframe().itertuples():
            print(f"{row.verdict:10} {row.statement}: {row.statistic:.3g} [{row.low:.3g}, {row.high:.3g}]")
        job.save(with_origin(checked, named, arguments.data, job.portable_result))


if __name__ == "__main__":
    command_line.run(main)
