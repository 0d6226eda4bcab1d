"""Unpack an archived dataset, which stands in the place of a collected one."""

from pathlib import Path

from carryover import archive
from carryover.errors import UserError
from carryover.provenance.job_record import Job
from carryover.workflow import command_line


def main(argv):
    parser = command_line.parser("unarchive.py", __doc__)
    parser.add_argument("packed", type=Path, help="FOLDER/EXPERIMENT/MEASURE.nc.xz, with MEASURE.json there")
    parser.add_argument("--sha256", required=True, help="of the dataset's bytes")
    arguments = parser.parse_args(argv)
    file = arguments.packed
    place = (file.parents[1], file.parent.name, file.name.removesuffix(".nc.xz"))
    known = archive.record(*place)
    if known["unpacked"]["sha256"] != arguments.sha256:
        raise UserError(f"--sha256 {arguments.sha256}: the record of {file} names another dataset.")
    with Job(
        rule="unarchive",
        parameters={"sha256": arguments.sha256, "commit": known["commit"]},
        wildcards=dict(arguments.wildcards),
        inputs=[file],
        outputs=arguments.output,
        modules=["unarchive"],
        portable="bits",
    ) as job:
        job.path(arguments.output[0]).write_bytes(archive.unpacked(*place))


if __name__ == "__main__":
    command_line.run(main)
