"""Run recorded jobs again, in a folder of their own, and compare what comes out with what the records say."""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from carryover import provenance
from carryover.errors import UserError

# What the bits of a result may depend on beside the versions; those are compared one by one.
_PLACE = ("python", "blas", "cpu", "libc", "device", "accelerator", "threads")

# What tells a library its number of threads, by its name in a record.
_THREADS = {"openmp": "OMP_NUM_THREADS", "openblas": "OPENBLAS_NUM_THREADS", "mkl": "MKL_NUM_THREADS"}


@dataclass(frozen=True)
class Replay:
    """One job again: `verdict` is SAME, DIFFERS or FAILED; `place` says what was not as when the record was made."""

    path: str
    verdict: str
    text: str
    place: Sequence[str] = ()


def replay(chain, root, count, seed):
    """`Replay` of `count` jobs, drawn at random by `seed` among those that have a record (all, where there are fewer);
    what is made on demand is not among them, for it holds nothing that other jobs have not made.

    Each runs its recorded command line on links to its inputs, with the recorded numbers of threads; nothing in the
    project's own results changes. Equal bytes, content (netCDF) or pixels (PNG) are SAME. Raises ValueError for a
    count < 1.
    """
    if count < 1:
        raise ValueError(f"count {count}: it must be a whole number ≥ 1")
    jobs = {min(chain.records[path]["outputs"]): chain.records[path] for path in chain.lasting if path in chain.jobs}
    chosen = random.Random(seed).sample(sorted(jobs), min(count, len(jobs)))
    for path in chosen:
        with tempfile.TemporaryDirectory(prefix="carryover-replay-") as scratch:
            yield _again(path, jobs[path], Path(root).resolve(), Path(scratch))


def _again(path, record, root, scratch):
    try:
        _refuse(record, root)
    except UserError as error:
        return Replay(path, "FAILED", str(error))
    _link(record, root, scratch)
    told = {"cwd": scratch, "env": _variables(record), "capture_output": True, "text": True, "errors": "replace"}
    done = subprocess.run([sys.executable, *record["command"]], **told)
    if done.returncode:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        return Replay(path, "FAILED", last)
    made = provenance.read(scratch / f"{path}.json")
    place = list(_elsewhere(record, made))
    pairs = {name: (known, made["outputs"].get(name, {})) for name, known in record["outputs"].items()}
    other = [name for name, (then, now) in pairs.items() if not _equal(then, now)]
    if other:
        return Replay(path, "DIFFERS", f"not as recorded: {', '.join(other)}", place)
    bytewise = all(then["sha256"] == now["sha256"] for then, now in pairs.values())
    return Replay(path, "SAME", "same bytes" if bytewise else "same content, other bytes", place)


def _variables(record):
    """This process's environment variables, with as many threads as the record has."""
    threads = record["environment"]["threads"]
    if "torch" in threads:  # it takes the number of OpenMP, which threadpoolctl does not see everywhere
        threads = {"openmp": threads["torch"], **threads}
    return os.environ | {name: str(threads[library]) for library, name in _THREADS.items() if library in threads}


def _refuse(record, root):
    """UserError for a command that is not one of the project's scripts, or that would write or read elsewhere.

    A record is a file that anyone may have edited, so it is not run on trust.
    """
    command = record["command"]
    if not (root / f"scripts/{record['rule']}.py").is_file() or command[:1] != [f"scripts/{record['rule']}.py"]:
        raise UserError(
            f"its command runs {' '.join(command[:1])}: only a script of the project, from the project's folder, is run"
        )
    start = command.index("--output") + 1 if "--output" in command else len(command)
    folders = {name: Path(name).parent.as_posix() for name in record["outputs"]}
    words, known = set(command[start:]), {*folders, *folders.values()}
    unsaid = [name for name, folder in folders.items() if not words & {name, folder}]
    if command.count("--output") != 1 or unsaid or words - known:
        raise UserError("its command does not end with --output and the recorded outputs, or the folder of them")
    for name in (*record["outputs"], *record["inputs"]):
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise UserError(f"{name} lies outside the folder of the project")


def _link(record, root, scratch):
    """Links in the scratch folder to all that the job reads: its inputs, and the project but for its results."""
    results = {Path(name).parts[0] for name in record["outputs"]}
    for entry in root.iterdir():
        if entry.name not in results and not entry.name.startswith("."):
            (scratch / entry.name).symlink_to(entry)
    inputs = {name for name in record["inputs"] if Path(name).parts[0] in results}
    for name in inputs | {f"{name}.json" for name in inputs}:  # with their records
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).symlink_to(Path.cwd() / name)


def _equal(then, now):
    return any(key in then and then[key] == now.get(key) for key in ("sha256", "content", "pixels"))


def _elsewhere(then, now):
    """What was not as when the record was made: inputs, code, versions, hardware."""
    for name, known in then["inputs"].items():
        if not _equal(known, now["inputs"].get(name, {})):
            yield f"input {name} is not the recorded one"
    if then["code"]["digest"] != now["code"]["digest"]:
        yield "the code has changed"
    before, after = then["environment"], now["environment"]
    for name in sorted(before["versions"].keys() | after["versions"].keys()):
        if before["versions"].get(name) != after["versions"].get(name):
            yield f"{name} {before['versions'].get(name, 'absent')}, now {after['versions'].get(name, 'absent')}"
    for name in _PLACE:
        if before.get(name) != after.get(name):
            yield f"{name} {before.get(name)}, now {after.get(name)}"
