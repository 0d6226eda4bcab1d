"""Unpack an archived dataset, which stands in the place of a collected one."""

from carryover import archive
from carryover.workflow import command_line


def main(argv):
    parser = command_line.parser("unarchive.py", __doc__)
    parser.add_argument("packed", help="FOLDER/EXPERIMENT/MEASURE.nc.xz, with MEASURE.json there")
    parser.add_argument("--sha256", required=True, help="of the dataset's bytes")
    archive.unarchive(parser.parse_args(argv))


if __name__ == "__main__":
    command_line.run(main)
