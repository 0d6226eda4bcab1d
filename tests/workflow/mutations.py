"""What can happen to a finished project: each is a function of a `Project`."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from carryover.provenance import job_record, store
from carryover.provenance.code_digest import closure_files
from toy.small_project import ENVIRONMENT
from workflow import file_changes

RISK = "scripts/carryover/measures/risk.py"


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


def swap_values(config):
    grid = finetune(config)
    grid["learning_rate"], grid["initial_scale"] = grid["initial_scale"], grid["learning_rate"]


def change_what_nothing_reads(config):
    """What no job reads, defaults written out, and keys in another order."""
    tiny = config["experiments"]["tiny"]
    tiny["finetune"]["grids"]["solved"] = dict(reversed(tiny["finetune"]["grids"]["solved"].items()))
    config["experiments"]["tiny"] = dict(reversed((tiny | {"resources": {"mem_mb": 4000, "runtime": 120}}).items()))
    config["figures"]["tiny_risk"] |= {"caption": "Other words."}


def ask_for_the_same(config):
    """Defaults written out, whole numbers for others, grids and a curve's keys in another order."""
    tiny = config["experiments"]["tiny"]
    tiny["seeds"], tiny["block"] = 2, 2
    tiny["task"]["auxiliary_norm"], tiny["finetune"]["rescale"] = "l2", 1
    tiny["finetune"]["overlap"] = [0, 1]
    tiny["finetune"]["grids"] = dict(reversed(tiny["finetune"]["grids"].items()))
    finetune(config)["loss"] = "squared"
    curve = config["curves"]["relu_penalty"] | {"auxiliary_magnitude": [1], "readout": 0, "largest_magnitude": 1000}
    config["curves"]["relu_penalty"] = dict(reversed(curve.items()))


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
    for file in (RISK, "scripts/finetune.py", "scripts/carryover/tasks/sparse.py"):
        path = project.folder / file
        path.write_text("# A comment.\n\n\n" + path.read_text().replace('"""', '"""Reworded. ', 1) + "\n\n# The end.\n")


def what_no_result_takes(project):
    """Help texts, annotations, and the words of an error."""
    project.replace(RISK, "def measure(data, p):", "def measure(data: object, p: object) -> object:")
    project.replace(
        "scripts/carryover/curves/relu_penalty.py", "magnitudes, evenly spaced", "magnitudes, spaced evenly"
    )
    project.replace("scripts/carryover/curves/relu_penalty.py", "must exceed", "must be larger than")


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


def without_metadata(project):
    shutil.rmtree(project.folder / ".snakemake", ignore_errors=True)


def inputs_last(project):
    """Times by which every input is later than what was made of it."""
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    files.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for second, file in enumerate(files):
        os.utime(file, (1e9 + second, 1e9 + second))


def replacement(project, source):
    """A file of another value, to be put in the place of `source` at once."""
    other = shutil.copyfile(project.folder / source, project.folder / "other.nc")
    file_changes.one_value(other)
    return other


def replaced_during(result, source):
    """The job of a result runs again and an input is replaced meanwhile: it must fail, name it and leave the result."""

    def mutation(project):
        kept = (project.folder / result).read_bytes()
        other = replacement(project, source)
        command = json.loads((project.folder / f"{result}.json").read_text())["command"]
        told = {"cwd": project.folder, "env": ENVIRONMENT, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([sys.executable, *command], **told) as job:
            project.at_work(result)
            os.replace(other, project.folder / source)
            said = job.stderr.read()
        assert job.returncode == 1
        assert f"{source} changed while finetune ran: run it again" in said
        assert (project.folder / result).read_bytes() == kept

    return mutation


def installed(package, version):
    """Another version of a package stands first on Python's path, as the tests make it."""

    return lambda project: (project.folder / f"site-packages/{package}-{version}.dist-info").mkdir(parents=True)


def loaded_also(package, version, *results):
    """Records of jobs that had one package more."""
    return both(*(record(path, lambda r: r["environment"]["versions"].update({package: version})) for path in results))


def on(path, change):
    return lambda project: change(project.folder / path)


def forge(result, change=file_changes.one_value):
    """Another value, and a record that says so."""

    def mutation(project):
        path = project.folder / result
        change(path)
        facts = {"sha256": store.sha256(path), "bytes": path.stat().st_size, "content": store.content_digest(path)}
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


def claim_present_sources(result):
    """A record that names the source files in the working folder as they are now."""

    def claim(found):
        found["code"]["files"] = closure_files("scripts", *found["code"]["modules"])

    return record(result, claim)


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
    passing = ["logs/x.log", "benchmarks/x.tsv", "tiny/finetune/x.saved/state.pt", "tiny/.risk.tmp1.nc"]
    for name in (*passing, "audit.json", "signed.json", "signed.json.sig"):
        path = Path(project.folder, "results", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
