"""Run recorded jobs again, in a folder of their own, and compare what comes out with what the records say."""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import job_record, portability, store

# What the bits of a result may depend on beside the versions; those are compared one by one.
_PLACE = ("python", "blas", "cpu", "libc", "device", "accelerator", "threads")

# What tells a library its number of threads, by its name in a record.
_THREADS = {"openmp": "OMP_NUM_THREADS", "openblas": "OPENBLAS_NUM_THREADS", "mkl": "MKL_NUM_THREADS"}


@dataclass(frozen=True)
class Replay:
    """One job again: `verdict` is SAME, ROUNDED, DIFFERS or FAILED.

    `promise` is what `portability` promises of the job elsewhere, by its record. `place` says what was not as when the
    record was made, and `kept` whether what came out is as promised: in the same place the same bits, elsewhere
    `promise`, with other code or inputs nothing.
    """

    path: str
    verdict: str
    text: str
    place: Sequence[str] = ()
    kept: bool = False
    promise: str = "rounding"


def replay(chain, root, count, seed):
    """`Replay` of `count` jobs, drawn at random by `seed` among those that have a record (all, where there are fewer);
    what is made on demand is not among them, for it holds nothing that other jobs have not made.

    Each runs its recorded command line on links to its inputs, with the recorded numbers of threads; nothing in the
    project's own results changes. Equal bytes, content (netCDF) or pixels (PNG) are SAME, numbers that agree as
    `portability.largest_difference` has it ROUNDED. Raises ValueError for a count < 1.
    """
    if count < 1:
        raise ValueError(f"count {count}: it must be a whole number ≥ 1")
    here = [path for path in chain.lasting if path in chain.jobs]
    jobs = {min(chain.records[path]["outputs"]): chain.records[path] for path in here}
    chosen = random.Random(seed).sample(sorted(jobs), min(count, len(jobs)))
    for path in chosen:
        with tempfile.TemporaryDirectory(prefix="carryover-replay-") as scratch:
            yield _again(path, jobs[path], Path(root).resolve(), Path(scratch))


def _again(path, record, root, scratch):
    promise = record.get("portable", {}).get("job", "rounding")
    found = partial(Replay, path, promise=promise)
    try:
        _refuse(record, root)
    except UserError as error:
        return found("FAILED", str(error))
    _link(record, root, scratch)
    told = {"cwd": scratch, "env": _variables(record), "capture_output": True, "text": True, "errors": "replace"}
    done = subprocess.run([sys.executable, *record["command"]], **told)
    if done.returncode:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        return found("FAILED", last)
    made = job_record.read(scratch / f"{path}.json")
    software, hardware = list(_with_other_software(record, made)), list(_elsewhere(record, made))
    place = [*software, *hardware]
    pairs = {name: (known, made["outputs"].get(name, {})) for name, known in record["outputs"].items()}
    other = [name for name, (then, now) in pairs.items() if not _equal(then, now)]
    if other:
        alike, text = _to_rounding(other, record, scratch)
        if alike:
            return found("ROUNDED", text, place, bool(software) or promise != "bits")
        # What holds no numbers that could be compared may differ elsewhere as well.
        free = hardware and (promise == "distribution" or alike is None)
        return found("DIFFERS", text, place, bool(software or free))
    bytewise = all(then["sha256"] == now["sha256"] for then, now in pairs.values())
    return found("SAME", "same bytes" if bytewise else "same content, other bytes", place, True)


def _to_rounding(outputs, record, scratch):
    """Whether outputs that are not as recorded agree with the recorded ones to rounding, and what is said of it.

    None where they cannot be compared: they are no netCDF, or what stands there is not what the record is of.
    """
    unlike = f"not as recorded: {', '.join(outputs)}"
    # What is made of results has the digits of those, which are mostly kept in single precision.
    precision, shares = "float64" if record["seeds"] or not record["inputs"] else "float32", []
    precision = record["parameters"].get("precision", precision)
    for name in outputs:
        if (
            Path(name).suffix != ".nc"
            or not Path(name).is_file()
            or store.sha256(name) != record["outputs"][name]["sha256"]
        ):
            return None, unlike
        share, text = portability.largest_difference(store.load(scratch / name), store.load(name), precision)
        if share is None:
            return False, f"{unlike}: {text}"
        shares.append((share, text))
    share, where = max(shares)
    return True, f"same to rounding: at most {share:.1e} of the largest" + (f" ({where})" if where else "")


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


def _with_other_software(then, now):
    """What was not as when the record was made, of inputs, code and versions: then nothing is promised."""
    for name, known in then["inputs"].items():
        if not _equal(known, now["inputs"].get(name, {})):
            yield f"input {name} is not the recorded one"
    if then["code"]["digest"] != now["code"]["digest"]:
        yield "the code has changed"
    before, after = then["environment"], now["environment"]
    for name in sorted(before["versions"].keys() | after["versions"].keys()):
        if before["versions"].get(name) != after["versions"].get(name):
            yield f"{name} {before['versions'].get(name, 'absent')}, now {after['versions'].get(name, 'absent')}"


def _elsewhere(then, now):
    """What was not as when the record was made, of all else that the bits may depend on."""
    before, after = then["environment"], now["environment"]
    for name in _PLACE:
        if before.get(name) != after.get(name):
            yield f"{name} {before.get(name)}, now {after.get(name)}"
