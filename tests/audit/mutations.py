"""What can happen to a finished project: each is a function of its folder, that of `Project`."""

import json
import os
import random
import shutil
from pathlib import Path

import netCDF4
import xarray as xr

from carryover import store
from carryover.digest import closure_files

RISK = "scripts/carryover/measures/risk.py"


def tell(project, change):
    """Change the configuration by a function of it."""
    config = project.config()
    change(config)
    project.configure(config)


def finetune(config):
    return config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]


def append(file, text):
    def mutation(project):
        with (project.folder / file).open("a") as opened:
            opened.write(text)

    return mutation


def replace(file, old, new):
    return lambda project: project.replace(file, old, new)


def configure(change):
    return lambda project: tell(project, change)


def delete(*patterns):
    def mutation(project):
        found = [path for pattern in patterns for path in project.folder.glob(pattern)]
        assert found
        for path in found:
            path.unlink()

    return mutation


def new_words(project):
    """Comments, docstrings and layout."""
    for file in (RISK, "scripts/finetune.py", "scripts/carryover/tasks/sparse.py"):
        path = project.folder / file
        path.write_text("# A comment.\n\n\n" + path.read_text().replace('"""', '"""Reworded. ', 1) + "\n\n# The end.\n")


def touch(project):
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    random.Random(0).shuffle(files)
    for second, file in enumerate(files):
        os.utime(file, (2e9 + second, 2e9 + second))


def clone(project):
    """Every file is new, with a new time."""
    old = project.folder.with_name("old")
    project.folder.rename(old)
    shutil.copytree(old, project.folder, copy_function=shutil.copyfile)
    os.chdir(project.folder)


def kept_time(change):
    """The same change of a file, of which its times tell nothing."""

    def mutation(path):
        stat = os.stat(path)
        change(path)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    return mutation


def on(path, change):
    return lambda project: change(project.folder / path)


@kept_time
def one_bit(path):
    data = bytearray(path.read_bytes())
    compressed = data.find(b"x^")  # elsewhere, HDF5 has gaps that hold nothing
    data[compressed + 10 if path.suffix == ".nc" else len(data) // 2] ^= 1
    path.write_bytes(data)


@kept_time
def one_value(path):
    with netCDF4.Dataset(path, "r+") as opened:
        name = next(name for name, v in opened.variables.items() if v.dtype.kind == "f" and v.ndim and v.size)
        values = opened[name][:]
        values.flat[0] += 1
        opened[name][:] = values


def recode(path):
    with xr.open_dataset(path, decode_times=False, mask_and_scale=False) as opened:
        dataset = opened.load().drop_encoding()
    dataset.to_netcdf(path, encoding={name: {"zlib": False} for name, v in dataset.variables.items() if v.ndim})


def older(path):
    path.write_text(path.read_text().replace("font.size: 9", "font.size: 10"))
    os.utime(path, (1e9, 1e9))


def record(result, change):
    """Change the record of a result by a function of it."""

    def mutation(project):
        path = project.folder / f"{result}.json"
        found = json.loads(path.read_text())
        change(found)
        path.write_text(json.dumps(found))

    return mutation


def claim_present_sources(result):
    """A record that names the source files as they are now."""

    def mutation(project):
        def change(found):
            found["code"]["files"] = closure_files(project.folder / "scripts", *found["code"]["modules"])

        record(result, change)(project)

    return mutation


def forge(result):
    """Another value, and a record that says so."""

    def mutation(project):
        path = project.folder / result
        one_value(path)
        facts = {"sha256": store.sha256(path), "bytes": path.stat().st_size, "content": store.content_digest(path)}
        record(result, lambda found: found["outputs"].update({result: facts}))(project)

    return mutation


def both(*mutations):
    def mutation(project):
        for change in mutations:
            change(project)

    return mutation


def swap(one, other):
    """Exchange two results, each with its record."""

    def mutation(project):
        for end in ("", ".json"):
            a, b = (project.folder / f"{path}{end}" for path in (one, other))
            content = a.read_bytes()
            a.write_bytes(b.read_bytes())
            b.write_bytes(content)

    return mutation


def link(folder):
    """A folder stands elsewhere, with a link to it in its place."""

    def mutation(project):
        path = project.folder / folder
        path.rename(project.folder / "elsewhere")
        path.symlink_to(project.folder / "elsewhere")

    return mutation


def copy_theory(folder):
    """The theory curve with its record, as if it had been made in another results folder."""

    def mutation(project):
        old, new = "results/theory/relu_penalty.nc", f"{folder}/theory/relu_penalty.nc"
        (project.folder / new).parent.mkdir(parents=True)
        for end in ("", ".json"):
            shutil.copy(project.folder / f"{old}{end}", project.folder / f"{new}{end}")
        record(new, lambda found: found["outputs"].update({new: found["outputs"].pop(old)}))(project)
        (project.folder / folder / "logs").mkdir()
        (project.folder / folder / "logs/a.log").write_text("x")

    return mutation


def no_results(project):
    """What stands in a results folder and is none."""
    for name in (
        "logs/x.log",
        "benchmarks/x.tsv",
        "tiny/finetune/x.saved/state.pt",
        "tiny/.risk.tmp1.nc",
        "audit.json",
    ):
        path = Path(project.folder, "results", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
