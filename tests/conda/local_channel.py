"""A conda channel in a folder, of this Python and of packages that pip has installed beside it.

    python local_channel.py FOLDER ENVIRONMENT.yaml...

packs what the environment files name, all that this requires, and Python. Needs zstandard.
"""

import io
import json
import os
import re
import sys
import sysconfig
import tarfile
import zipfile
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path

import yaml
import zstandard
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

RENAMED = {"torch": "pytorch"}  # what conda-forge calls otherwise than PyPI
SUBDIR = "linux-64"
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"


def build(channel, files):
    """Make the channel for environment files; raises PackageNotFoundError for what is not installed here."""
    packages = channel / SUBDIR
    packages.mkdir(parents=True)
    made = [
        pack(packages, "python", sys.version.split()[0], python_files()),
        *(pack_distribution(packages, found) for found in with_requirements(named(files))),
    ]
    for subdir, entries in {SUBDIR: dict(made), "noarch": {}}.items():
        (channel / subdir).mkdir(exist_ok=True)
        index = {"info": {"subdir": subdir}, "packages": {}, "packages.conda": entries}
        (channel / subdir / "repodata.json").write_text(json.dumps(index))


def named(files):
    """PyPI's names of all that environment files ask for besides Python."""
    entries = {entry for file in files for entry in yaml.safe_load(Path(file).read_text())["dependencies"]}
    on_pypi = {conda: pypi for pypi, conda in RENAMED.items()}
    names = {re.match(r"[\w.-]+", entry)[0] for entry in entries}
    return {on_pypi.get(name, name) for name in names - {"python"}}


def with_requirements(names):
    """The distributions of these names, and all that they require."""
    waiting, found = set(names), {}
    while waiting:
        name = waiting.pop()
        found[name] = distribution(name)
        waiting |= {canonicalize_name(one.name) for one in requirements(found[name])} - found.keys()
    return found.values()


def requirements(found):
    """What a distribution requires on this machine, without extras."""
    every = map(Requirement, found.requires or [])
    return [one for one in every if one.marker is None or one.marker.evaluate({"extra": ""})]


def conda_name(name):
    return RENAMED.get(canonicalize_name(name), canonicalize_name(name))


def conda_requirement(requirement):
    return f"{conda_name(requirement.name)} {','.join(sorted(map(str, requirement.specifier)))}".strip()


def conda_version(found):
    return found.version.partition("+")[0]


def pack_distribution(folder, found):
    """Pack a distribution without headers, and without scripts, which name the Python that they were installed for."""
    here = {file: Path(found.locate_file(file)) for file in found.files}
    files = {
        f"lib/python{MINOR}/site-packages/{file.as_posix()}": path
        for file, path in here.items()
        if not {"..", "include"} & set(file.parts) and path.is_file()
    }
    depends = [f"python {MINOR}.*", *map(conda_requirement, requirements(found))]
    return pack(folder, conda_name(found.name), conda_version(found), files, depends)


def python_files():
    """{path in an environment: file here} of the interpreter and its standard library, without tests."""
    library = Path(sysconfig.get_path("stdlib"))
    left_out = {"site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip"}
    files = {}
    for folder, subfolders, names in os.walk(library):
        subfolders[:] = [name for name in subfolders if name not in left_out and not name.startswith("config-")]
        inside = Path(f"lib/python{MINOR}", Path(folder).relative_to(library))
        files |= {(inside / name).as_posix(): Path(folder, name) for name in names if ".opt-" not in name}
    return files | dict.fromkeys(("bin/python", "bin/python3"), Path(sys._base_executable))


def pack(folder, name, version, files, depends=()):
    """(file name, what the channel's index says) of one package, written in conda's second format.

    That is a zip of two compressed archives, one with the files and one about them.
    """
    whole = f"{name}-{version}-pip"
    index = {"name": name, "version": version, "build": "pip", "build_number": 0,
             "depends": list(depends), "subdir": SUBDIR}  # fmt: skip
    paths = {"paths": [{"_path": path, "path_type": "hardlink"} for path in sorted(files)], "paths_version": 1}
    with zipfile.ZipFile(folder / f"{whole}.conda", "w") as package:
        package.writestr("metadata.json", json.dumps({"conda_pkg_format_version": 2}))
        with archive(package, f"pkg-{whole}.tar.zst") as tar:
            for path, file in sorted(files.items()):
                tar.add(file, path, recursive=False)
        with archive(package, f"info-{whole}.tar.zst") as tar:
            for part, value in {"index": index, "paths": paths}.items():
                content = json.dumps(value).encode()
                entry = tarfile.TarInfo(f"info/{part}.json")
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return f"{whole}.conda", index


@contextmanager
def archive(package, name):
    """A tar file to be filled, compressed as little as possible, in which links have become files."""
    quick = zstandard.ZstdCompressor(level=-5)
    with (
        package.open(name, "w", force_zip64=True) as member,
        quick.stream_writer(member, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|", dereference=True) as tar,
    ):
        yield tar


if __name__ == "__main__":
    build(Path(sys.argv[1]), sys.argv[2:])
