"""Run recorded jobs again, in a folder of their own, and compare what comes out with what the records say."""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from carryover.provenance import job_record, portability, store

_PLACE = ("python", "blas", "cpu", "libc", "device", "accelerator", "threads")
"""What the bits of a result may depend on besides inputs, code and versions."""
_THREADS = {"torch": "OMP_NUM_THREADS", "openblas": "OPENBLAS_NUM_THREADS", "mkl": "MKL_NUM_THREADS"}
"""The variable that sets a library's number of threads, by its name in a record."""


@dataclass(frozen=True)
class Replay:
    """One job again.

    Attributes
    ----------
    verdict
        SAME (bytes), ROUNDED (numbers agree as in `portability.difference`), DIFFERS or FAILED.
    place
        What differs from when the record was made.
    kept
        Whether the result is as promised: in the same place the same bits, on another processor what `promise` says,
        with other inputs, code or versions nothing.
    promise
        What `portability` promises of the job elsewhere, by its record.
    """

    path: str
    verdict: str
    text: str
    place: Sequence[str] = ()
    kept: bool = False
    promise: str = "rounding"


def replay(chain, root, count, seed):
    """Yield a `Replay` of `count` recorded jobs, drawn by `seed`, or of all where there are fewer.

    Each runs its recorded command line on links to its inputs, with the recorded numbers of threads; nothing in the
    project's own results changes.
    """
    jobs = {min(record["outputs"]): record for path, record in chain.lasting.items() if path in chain.requests}
    for path in random.Random(seed).sample(sorted(jobs), min(count, len(jobs))):
        with tempfile.TemporaryDirectory(prefix="carryover-replay-") as scratch:
            yield _again(path, jobs[path], Path(root).resolve(), Path(scratch))


def _again(path, record, root, scratch):
    promise = record["portable"]["job"]
    if why := _refusal(record, root):
        return Replay(path, "FAILED", why, promise=promise)
    _link(record, root, scratch)
    threads = record["environment"]["threads"]
    variables = os.environ | {name: str(threads[library]) for library, name in _THREADS.items() if library in threads}
    command = [sys.executable, *record["command"]]
    done = subprocess.run(command, cwd=scratch, env=variables, capture_output=True, text=True, errors="replace")
    if done.returncode:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        return Replay(path, "FAILED", last, promise=promise)

    now = job_record.read(scratch / f"{path}.json")
    work = list(_other_work(record, now))
    before, after = record["environment"], now["environment"]
    place = [f"{n} {before[n]}, now {after[n]}" for n in _PLACE if not _is_same(before[n], after[n])]
    other = [name for name, known in record["outputs"].items() if known["sha256"] != store.sha256(scratch / name)]
    if not other:
        return Replay(path, "SAME", "same bytes", [*work, *place], True, promise)
    unlike = _unlike(other, record, scratch)
    # Figures and texts hold no numbers that could be compared: on another processor they may differ.
    free = promise == "distribution" or not any(name.endswith(".nc") for name in other)
    allowed = bool(work) or (promise != "bits" if not unlike else bool(place) and free)
    text = unlike or "same to rounding"
    return Replay(path, "DIFFERS" if unlike else "ROUNDED", text, [*work, *place], allowed, promise)


def _refusal(record, root):
    """Why a command is not run: a record is a file that anyone may have edited. Empty for a job of the project."""
    command, script = record["command"], f"scripts/{record['rule']}.py"
    if command[:1] != [script] or not (root / script).is_file():
        return f"its command runs {' '.join(command[:1])}: only a script of the project, from its folder, is run"
    for name in (*record["outputs"], *record["inputs"]):
        if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
            return f"{name} lies outside the folder of the project"
    written = command[command.index("--output") + 1 :] if command.count("--output") == 1 else []
    folders = {PurePath(name).parent.as_posix() for name in record["outputs"]}
    if set(written) not in (set(record["outputs"]), folders):
        return "its command does not end with --output and the recorded outputs, or the folder of them"
    return ""


def _link(record, root, scratch):
    """Links in the scratch folder to all that the job reads: the project without its results, and its inputs."""
    results = {PurePath(name).parts[0] for name in record["outputs"]}
    for entry in root.iterdir():
        if entry.name not in results and not entry.name.startswith("."):
            (scratch / entry.name).symlink_to(entry)
    for name in record["inputs"]:
        for file in (name, f"{name}.json") if PurePath(name).parts[0] in results else ():
            (scratch / file).parent.mkdir(parents=True, exist_ok=True)
            (scratch / file).symlink_to(Path.cwd() / file)


def _other_work(before, now):
    """Inputs, code and versions that differ from the recorded ones: then nothing is promised."""
    for name, known in before["inputs"].items():
        if known["sha256"] != now["inputs"].get(name, {}).get("sha256"):
            yield f"input {name} is not the recorded one"
    if before["code"]["digest"] != now["code"]["digest"]:
        yield "the code has changed"
    then, versions = before["environment"]["versions"], now["environment"]["versions"]
    for name in sorted(then.keys() & versions.keys()):
        if then[name] != versions[name]:
            yield f"{name} {then[name]}, now {versions[name]}"


def _is_same(before, now):
    """Whether what both have is the same: a job may have been forked from a process with more libraries loaded."""
    if isinstance(before, dict):
        return all(before[key] == now[key] for key in before.keys() & now.keys())
    return all(one in before for one in now) if isinstance(before, list) else before == now


def _unlike(outputs, record, scratch):
    """How outputs differ from the recorded ones by more than rounding, in words; empty where they do not."""
    # Datasets that are made of results have the digits of those, which are mostly in single precision.
    precision = "float64" if record["seeds"] or not record["inputs"] else "float32"
    precision = record["parameters"].get("precision", precision)
    for name in outputs:
        if not name.endswith(".nc"):
            return f"not as recorded: {name}"
        for now, before in zip(store.load_all(scratch / name), store.load_all(name), strict=True):
            if found := portability.difference(now, before, precision):
                return f"not as recorded: {name}: {found}"
    return ""
