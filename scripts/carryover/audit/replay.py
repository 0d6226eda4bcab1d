"""Run recorded jobs again, in a folder of their own, and compare the results with the recorded ones."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePath

import numpy as np
import xarray as xr

from carryover.audit.findings import Finding
from carryover.config import parameters
from carryover.provenance import job_record, store

_THREADS = {"torch": "OMP_NUM_THREADS", "openblas": "OPENBLAS_NUM_THREADS", "mkl": "MKL_NUM_THREADS"}
"""The variable that sets a library's number of threads, by its name in a record."""


def replay(audit, root, count, seed):
    """Yield a `Finding` on each of `count` recorded jobs of an `Audit`, drawn by `seed`, or on all if there are fewer.

    Each job runs its recorded command line on links to its inputs, with the recorded numbers of threads; the project's
    results do not change. The verdict is SAME (bytes), ROUNDED (numbers agree as in `difference`), DIFFERS or FAILED.
    In the same environment, other bytes fail the audit; in another environment, only a larger difference than the
    record promises (`job_record.PORTABLE`) does. With other inputs or code there is no promise.
    """
    jobs = {min(record["outputs"]): record for path, record in audit.lasting.items() if path in audit.requests}
    for path in random.Random(seed).sample(sorted(jobs), min(count, len(jobs))):
        with tempfile.TemporaryDirectory(prefix="carryover-replay-") as scratch:
            yield _rerun(path, jobs[path], Path(root).resolve(), Path(scratch))


def _rerun(path, record, root, scratch):
    """The `Finding` on one job, run in the folder `scratch`; its text begins with the promise in brackets.

    `path` is the first output, `record` its record and `root` the folder of the project.
    """
    promise = record["portable"]["job"]

    def finding(verdict, text, changes=(), fails=True):
        since = f"; not as recorded: {', '.join(changes)}" if changes else ""
        return Finding(verdict, path, record["rule"], f"[{promise}] {text}{since}", fails)

    if refusal := _refusal(record, root):
        return finding("FAILED", refusal)
    _link(record, root, scratch)
    threads = record["environment"]["threads"]
    variables = os.environ | {name: str(threads[library]) for library, name in _THREADS.items() if library in threads}
    command = [sys.executable, *record["command"]]
    process = subprocess.run(command, cwd=scratch, env=variables, capture_output=True, text=True, errors="replace")
    if process.returncode:
        return finding("FAILED", (process.stderr.strip() or f"exit code {process.returncode}").splitlines()[-1])

    now = job_record.read(scratch / f"{path}.json")
    other_work = ["inputs"] if record["inputs"] != now["inputs"] else []
    other_work += ["code"] if record["code"]["digest"] != now["code"]["digest"] else []
    # Only of libraries in both: a job may be forked from a process with more of them loaded.
    environment = parameters.differences(record["environment"], now["environment"], common=True)
    changes = [*other_work, *(f"{' '.join(names)} {then} → {today}" for names, then, today in environment)]
    other = [name for name, known in record["outputs"].items() if known != now["outputs"][name]]
    if not other:
        return finding("SAME", "same bytes", changes, fails=False)
    unlike = _first_difference(other, scratch)
    # Figures and texts hold no numbers that could be compared, so in another environment they may differ.
    allowed = ["distribution"] if unlike else ["distribution", "rounding"]
    promised = promise in allowed or not any(name.endswith(".nc") for name in other)
    # Other inputs or code excuse anything, and another environment what the promise allows.
    fails = not (other_work or (changes and promised))
    return finding("DIFFERS" if unlike else "ROUNDED", unlike or "same to rounding", changes, fails)


def _refusal(record, root):
    """Why a command must not run, since anyone may have edited a record; empty for a job of the project."""
    command, script = record["command"], f"scripts/{record['rule']}.py"
    if command[:1] != [script] or not (root / script).is_file():
        return f"its command runs {' '.join(command[:1])}: only a script of the project, from its folder, is run"
    for name in (*record["outputs"], *record["inputs"]):
        if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
            return f"{name} lies outside the folder of the project"
    if command.count("--output") != 1 or set(command[command.index("--output") + 1 :]) != set(record["outputs"]):
        return "its command does not end with --output and the recorded outputs"
    return ""


def _link(record, root, scratch):
    """Put links to the project, without its results, and to the job's inputs into the scratch folder.

    Scripts and configuration are copied, because scripts find the style of figures by their own resolved path.
    """
    results = {PurePath(name).parts[0] for name in record["outputs"]}
    for entry in root.iterdir():
        if entry.name in ("scripts", "config"):
            shutil.copytree(entry, scratch / entry.name)
        elif entry.name not in results and not entry.name.startswith("."):
            (scratch / entry.name).symlink_to(entry)
    for name in record["inputs"]:
        for file in (name, f"{name}.json") if PurePath(name).parts[0] in results else ():
            (scratch / file).parent.mkdir(parents=True, exist_ok=True)
            (scratch / file).symlink_to(Path.cwd() / file)


def _first_difference(names, scratch):
    """How the first of the outputs `names` that does so differs from the recorded one by more than rounding, as text;
    empty if none does."""
    for name in names:
        if not name.endswith(".nc"):
            return f"other bytes: {name}"
        for now, before in zip(store.load_all(scratch / name), store.load_all(name), strict=True):
            if words := difference(now, before):
                return f"other values: {name}: {words}"
    return ""


def difference(data, expected):
    """How a dataset differs from the `expected` one beyond rounding, as text; empty if it does not.

    They agree to rounding if floating-point numbers differ by at most 3.5e-4 of the largest of their variable, half of
    the digits of single precision, in which most networks are trained, and everything else is identical. Numbers
    smaller than one rounding are not compared, since fitted zeros have errors of that size.
    """
    unit = np.finfo("float32").eps / 2
    numbers = [name for name, variable in expected.variables.items() if variable.dtype.kind == "f"]
    try:
        xr.testing.assert_identical(data.drop_vars(numbers, errors="ignore"), expected.drop_vars(numbers))
        for name in numbers:
            largest = np.max(np.abs(expected[name].values), initial=0.0, where=np.isfinite(expected[name].values))
            allowed = max(np.sqrt(2 * unit) * float(largest), unit)
            xr.testing.assert_allclose(data[name].variable, expected[name].variable, rtol=0, atol=allowed)
    except (AssertionError, KeyError) as error:
        return " ".join(str(error).split())[:200]
    return ""
