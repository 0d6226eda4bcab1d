"""Changes of a finished project: each is a function of a `Project`, or of the path of one of its files."""

import json
import os
import shutil

import netCDF4
import numpy as np

from carryover.provenance import job_record, store
from toy.small_project import DESCENT, EXACT

PRETRAINED = "results/tiny/pretrain/initial_scale~0.01_solver~exact/0.nc"
CURVE = "results/theory/relu_penalty.nc"
RISK, SPARSITY = "results/tiny/risk.nc", "results/tiny/sparsity.nc"
MEASURE = "scripts/carryover/measures/recorded.py"
STYLE, RULE, PENALTY = "config/figures.mplstyle", "rules/curve.smk", "scripts/carryover/theory/curves/relu_penalty.py"
FIGURE, THEORY_FIGURE = (
    [f"results/figures/{name}.{suffix}" for suffix in ("png", "pdf")] for name in ("tiny_risk", "relu_penalty")
)
SPARSITIES = [shard.replace("/finetune/", "/measure/sparsity/", 1) for shard in (EXACT, DESCENT)]
TRAINED = [PRETRAINED, EXACT, DESCENT]
AFTER_TRAINING = [*SPARSITIES, RISK, SPARSITY, *FIGURE]
ALL = [*TRAINED, *AFTER_TRAINING, CURVE, *THEORY_FIGURE]
NEW_BLOCK = [path.replace("/0.nc", "/1.nc") for path in (*TRAINED, *SPARSITIES)]
DESCENT_AGAIN = {"finetune": 1, "measure": 1, "collect": 2, "figure": 1}
BLOCK_AGAIN = {"pretrain": 1, "finetune": 2, "measure": 2, "collect": 2, "figure": 1}


# Changes of one file, by its path.


def one_value(path):
    """The next number in the place of one, with the size and times of the file as they were."""
    status, content, place = os.stat(path), path.read_bytes(), 0
    while path.read_bytes() == content or path.stat().st_size != len(content):
        path.write_bytes(content)
        with netCDF4.Dataset(path, "r+") as opened:
            variable = next(v for v in opened.variables.values() if v.dtype.kind == "f" and v.ndim and v.size > place)
            values = variable[:]
            values.flat[place] = np.nextafter(values.flat[place], np.inf)
            variable[:] = values
        place += 1
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def scaled(factor):
    """All floating-point numbers of a file times a factor."""

    def change(path):
        with netCDF4.Dataset(path, "r+") as opened:
            for variable in opened.variables.values():
                if variable.dtype.kind == "f":
                    variable[:] = variable[:] * factor

    return change


# Changes of a project.


def on(path, change):
    return lambda project: change(project.folder / path)


def append(file, text):
    def mutation(project):
        with (project.folder / file).open("a") as opened:
            opened.write(text)

    return mutation


def replace(file, old, new):
    return lambda project: project.replace(file, old, new)


def configure(change):
    """Change the configuration by a function of it."""

    def mutation(project):
        config = project.config()
        change(config)
        project.configure(config)

    return mutation


def put(*keys, value):
    """Set one value of the configuration."""

    def change(config):
        for key in keys[:-1]:
            config = config[key]
        config[keys[-1]] = value

    return configure(change)


def rate(value):
    return put("experiments", "tiny", "finetune", "grids", "simulated", "learning_rate", value=value)


def ask_for_the_same(config):
    """Captions and resources, defaults written out, whole numbers for others, keys in another order."""
    tiny = config["experiments"]["tiny"]
    tiny |= {"block": 2, "resources": {"mem_mb": 4000, "runtime": 120}}
    tiny["task"]["auxiliary_norm"], tiny["finetune"]["overlap"] = "l2", [0, 1]
    tiny["finetune"]["grids"] = dict(reversed(tiny["finetune"]["grids"].items()))
    config["experiments"]["tiny"] = dict(reversed(tiny.items()))
    config["figures"]["tiny_risk"] |= {"caption": "Other words."}


def forget_theory(config):
    del config["curves"], config["figures"]["relu_penalty"]


def delete(*patterns):
    def mutation(project):
        found = [path for pattern in patterns for path in project.folder.glob(pattern)]
        assert found
        for path in found:
            path.unlink()

    return mutation


def new_words(project):
    """Comments, docstrings and layout."""
    for file in (MEASURE, "scripts/finetune.py", "scripts/carryover/tasks/sparse.py"):
        path = project.folder / file
        path.write_text("# A comment.\n\n\n" + path.read_text().replace('"""', '"""Reworded. ', 1) + "\n\n# The end.\n")


def touch(project):
    """Every input gets a later time than what was made of it."""
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    files.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for second, file in enumerate(files):
        os.utime(file, (1e9 + second, 1e9 + second))


def clone(project):
    """Every file is new, with a new time."""
    old = project.folder.with_name("old")
    project.folder.rename(old)
    shutil.copytree(old, project.folder, copy_function=shutil.copyfile)
    os.chdir(project.folder)


def without_metadata(project):
    shutil.rmtree(project.folder / ".snakemake", ignore_errors=True)


def forge(result, change=one_value):
    """Another value, and a record that says so."""

    def mutation(project):
        path = project.folder / result
        change(path)
        facts = {"sha256": store.sha256(path), "bytes": path.stat().st_size}
        record(result, lambda found: found["outputs"].update({result: facts}))(project)

    return mutation


def record(result, change):
    """Change the record of a result by a function of it, its checksum with it: as a job might have written it."""
    return edit(result, lambda found: (change(found), found.update(checksum=job_record.checksum(found))))


def edit(result, change):
    """Change the record of a result by a function of it and nothing else."""

    def mutation(project):
        path = project.folder / f"{result}.json"
        found = json.loads(path.read_text())
        change(found)
        path.write_text(json.dumps(found))

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
