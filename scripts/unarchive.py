"""Unpack an archived dataset, which stands in the place of a collected one."""

from pathlib import Path

from carryover import archive
from carryover.errors import UserError
from carryover.workflow import command_line


def main(argv):
    parser = command_line.parser("unarchive.py", __doc__)
    parser.add_argument("packed", type=Path, help="FOLDER/EXPERIMENT/MEASURE.nc.xz, with MEASURE.json there")
    parser.add_argument("--sha256", required=True, help="of the dataset's bytes")
    arguments = parser.parse_args(argv)
    packed, sha256 = arguments.packed, arguments.sha256
    known = archive.record(packed)
    if known["unpacked"]["sha256"] != sha256:
        raise UserError(f"--sha256 {sha256}: the record of {packed} names another dataset.")
    parameters = {"sha256": sha256, "commit": known["commit"]}
    with command_line.job("unarchive", arguments, [packed], parameters=parameters, portable="bits") as job:
        job.path(arguments.output[0]).write_bytes(archive.unpacked(packed))


if __name__ == "__main__":
    command_line.run(main)
