"""Check one group of claims against the datasets."""

import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.workflow import artifact_jobs, command_line


def with_data(checked, files):
    """A group of claims that says which datasets it reads: their files' names, after the folder that holds them."""
    names = ", ".join(f"{file.parent.name}/{file.stem}" for file in files)
    return checked.assign(data=("claim", [names] * checked.sizes["claim"], attributes("datasets that the group reads")))


def check_names(checked):
    """Refuse a group in which a name stands for two claims: files and pages tell claims by it."""
    names, counts = np.unique(checked["claim"].values, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"two claims of this group have the name {names[counts.argmax()]}: names must differ.")


def main(argv):
    module, p, arguments = command_line.plugin(argv, "claims", "check_claims", __doc__, command_line.add_data)
    with Job(
        rule="check_claims",
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        inputs=arguments.data,
        outputs=arguments.output,
        modules=["check_claims", module.__name__],
    ) as job:
        checked = artifact_jobs.made_of_roles(module.check, xr.Dataset, arguments, p, store.load)
        check_names(checked)
        for row in checked.to_dataframe().itertuples():
            print(f"{row.verdict:10} {row.statement}: {row.statistic:.3g} [{row.low:.3g}, {row.high:.3g}]")
        job.save(with_data(checked, arguments.data))


if __name__ == "__main__":
    command_line.run(main)
