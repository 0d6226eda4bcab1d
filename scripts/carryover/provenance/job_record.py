"""The record next to every result: what was requested, of which code and inputs, with which software, and the results.

    with job_record.Job(rule="finetune", parameters=p, wildcards=w, inputs=[a], outputs=["results/x.nc"],
                        modules=["finetune", "carryover.families.diagonal.finetune"], seeds=[0, 1]) as job:
        job.save(dataset)                  # or: figure.savefig(job.path("results/x.png"))

Results are written to temporary files. When the block ends well the inputs are hashed again, the results are put in
their places, and after all of them their records, `<result>.json`. A kill at any instant leaves a result with its own
record, or one whose hash is not that of its record; never a record that vouches for other bytes.

A record is JSON, with paths relative to the working folder; docs/provenance.md says what it holds. All but `volatile`
and `checksum`, over all the rest, is the same whenever the same job runs in the same place. The `request` is known
before the results are, so a figure can carry it.

The Snakefile imports this module, so it imports nothing large.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from carryover.config.artifacts import DATA_FILES
from carryover.errors import DataError, UserError
from carryover.provenance import code_digest, store
from carryover.provenance.environment import environment, git_state, processor_time, resource_usage

if TYPE_CHECKING:
    import xarray as xr

VERSION = 1
SCRIPTS = Path(__file__).resolve().parents[2]
"""The folder of this library: a project's `scripts`, or one of installed packages."""
_REQUEST = ("rule", "wildcards", "parameters", "seeds")
_METADATA = {".png": ("Description", "Comment"), ".pdf": ("Subject", "Keywords", "CreationDate", "ModDate")}
"""Where each format of figures stores note and text of the request; what follows are times, which stay empty."""
NOTE = "Carryover request "
PORTABLE = ("bits", "rounding", "distribution")
"""What a job promises on another processor, with other libraries or numbers of threads: the same bytes; the same
numbers but for their last digits, since libraries add in another order there; or other numbers from the same
distribution, where training enlarges a rounding until it is as good as another draw (steps near the largest stable one,
normalisation over few values). In one place a job gives the same bits again, whatever it promises elsewhere."""
_ANY = TypeAdapter(Any)


def plain(value: Any) -> Any:
    """A value as it comes back from JSON: models become sections, tuples lists."""
    return _ANY.dump_python(value, mode="json")


def json_line(value: Any) -> str:
    """A value's JSON, with sorted keys, without spaces, in ASCII: one text for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def json_digest(value: Any) -> str:
    """SHA-256 over `json_line`."""
    return hashlib.sha256(json_line(value).encode()).hexdigest()


def record_path(result: str | Path) -> Path:
    """Where the record of a result stands: next to it, `<result>.json`."""
    return Path(f"{result}.json")


def read(path: str | Path) -> dict[str, Any]:
    """The record in the file `path`. Raises DataError where there is none, or one that was edited."""
    with store.regular(path) as file:
        content = file.read()
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        raise DataError(f"{path} is truncated or damaged: run the job of its result again") from None
    if not isinstance(record, dict) or record.get("carryover_record") != VERSION:
        raise DataError(f"{path} is not a record of layout {VERSION}: run the job of its result again")
    if record.get("checksum") != checksum(record):
        raise DataError(f"{path} has been edited: it is not what its checksum says")
    return record


def record_digest(record: Mapping[str, Any]) -> str:
    """SHA-256 over what is the same whenever a job runs in one place: all but `volatile` and `checksum`."""
    return json_digest({key: value for key, value in record.items() if key not in ("volatile", "checksum")})


def checksum(record: Mapping[str, Any]) -> str:
    """SHA-256 over everything in a record but its `checksum`, which tells a later edit of any part."""
    return json_digest({key: value for key, value in record.items() if key != "checksum"})


def request_text(record: Mapping[str, Any]) -> str:
    """Rule, wildcards, parameters, seeds, the digests of the code and of the inputs, as one line of JSON in ASCII."""
    inputs = {path: file["sha256"] for path, file in record["inputs"].items()}
    return json_line({**{key: record[key] for key in _REQUEST}, "code": record["code"]["digest"], "inputs": inputs})


def weakest(promises: Iterable[str]) -> str:
    """What is promised of something made of results with these promises (`PORTABLE`)."""
    return max(promises, key=PORTABLE.index)


@dataclass(kw_only=True)
class Job:
    """One job of the workflow as a context manager; see the module's text for its use and for what it records.

    Parameters
    ----------
    parameters
        A mapping of plain values and models, or a model.
    modules
        Script and plug-ins by dotted name.
    device
        Where it computes; "auto" finds CUDA.
    portable
        What is promised elsewhere on the same inputs, one of `PORTABLE`.

    Raises
    ------
    UserError
        For a missing input or one that changed meanwhile, an output that is an input, that cannot be or was not
        written, and a loaded module that the record would not name.
    """

    rule: str
    outputs: Sequence[str | Path]
    modules: Sequence[str]
    parameters: Any = field(default_factory=dict)
    wildcards: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[str | Path] = ()
    seeds: Sequence[int] = ()
    device: Any = None
    portable: str = "rounding"

    @property
    def note(self) -> str:
        """SHA-256 over the `request_text` of this job, as a text or a figure carries it for `trace`."""
        return NOTE + self._record["request"]

    def figure_metadata(self, suffix: str) -> dict[str, str | None]:
        """What `savefig` writes into a figure of this format: the request, its digest, and no time.

        The commit, the time and the machine are in the record alone, so that equal data give equal bytes.
        """
        note, text, *times = _METADATA[suffix]
        return {**dict.fromkeys(times), note: self.note, text: request_text(self._record)}

    @property
    def portable_result(self) -> str:
        """What is promised elsewhere of what this job makes (`PORTABLE`): no more than of its weakest input."""
        return self._record["portable"]["result"]

    def path(self, output: str | Path) -> Path:
        """Where to write one of the job's outputs: a temporary file with the same suffix."""
        return self._temporaries[Path(output)]

    def save(self, dataset: xr.Dataset | Sequence[xr.Dataset], output: str | Path | None = None) -> None:
        """Write a dataset, or several, with the request among the attributes, as `output` (default: the first)."""
        request = {key: self._record[key] for key in _REQUEST}
        store.save(dataset, self.path(output or self.outputs[0]), record=request)

    def __enter__(self) -> Job:
        self._running = self._run()
        return self._running.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._running.__exit__(*error)

    @contextmanager
    def _run(self) -> Iterator[Job]:
        """Yield this job, with temporary files for its results; check and record them when the block ends well."""
        begin = datetime.now(UTC), processor_time()
        self.inputs = list(self.inputs)  # an iterator would be empty by the second look
        if overwritten := {os.path.realpath(path) for path in self.inputs} & set(map(os.path.realpath, self.outputs)):
            raise UserError(f"{min(overwritten)} is an input and an output: give the output another name")
        modules = [*self.modules, *DATA_FILES.get(self.rule, ())]
        files, packages = code_digest.closure(SCRIPTS, *modules)
        self._record = {
            "carryover_record": VERSION,
            **{key: plain(getattr(self, key)) for key in _REQUEST},
            "command": list(sys.argv),
            "inputs": {_relative(path): _facts(Path(path)) for path in self.inputs},
            "code": {"modules": modules, "digest": json_digest(files), "files": files},
            "git": git_state(SCRIPTS),
            "portable": {"job": self.portable, "result": weakest([self.portable, *map(_promise_of, self.inputs)])},
        }
        self._record["request"] = hashlib.sha256(request_text(self._record).encode()).hexdigest()
        with store.atomic(*self.outputs, *map(record_path, self.outputs)) as temporaries:
            # The first are those of the results, the others those of their records.
            self._temporaries = dict(zip(map(Path, self.outputs), temporaries, strict=False))
            yield self
            self._check()
            record = self._record | {
                "outputs": {_relative(output): _facts(file) for output, file in self._temporaries.items()},
                "environment": environment(self.device, packages),
                "volatile": resource_usage(*begin),
            }
            record["checksum"] = checksum(record)
            text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
            for file in temporaries[len(self.outputs) :]:
                file.write_text(text, encoding="utf-8")

    def _check(self) -> None:
        """Raise UserError for an output that was not written, for an input that changed, and for a loaded module of the
        project that the record's digests of the code do not cover."""
        for output, temporary in self._temporaries.items():
            if not temporary.is_file() or not temporary.stat().st_size:
                raise UserError(f"{self.rule} did not write its output {output}")
        for path in self.inputs:
            if store.sha256(path) != self._record["inputs"][_relative(path)]["sha256"]:
                raise UserError(f"{path} changed while {self.rule} ran: run it again")
        main = getattr(sys.modules["__main__"], "__file__", None)
        if main is None or Path(main).resolve().parent != SCRIPTS:
            return  # another program, with modules of its own
        folder = f"{SCRIPTS}{os.sep}"
        for module in list(sys.modules.values()):
            file = str(getattr(module, "__dict__", {}).get("__file__"))
            # The values of parameters are in the record.
            if file.startswith(folder) and not file.endswith(f"{os.sep}parameters.py"):
                name = Path(file).relative_to(SCRIPTS).as_posix()
                if name not in self._record["code"]["files"]:
                    raise UserError(f"{self.rule} loaded {name}, which no import statement names: add it to modules")


def _promise_of(path: str | Path) -> str:
    """What is promised elsewhere of an input: the same bits where it was not made here."""
    with suppress(DataError, LookupError, TypeError):
        return read(record_path(path))["portable"]["result"]
    return PORTABLE[0]


def _facts(path: Path) -> dict[str, Any]:
    return {"sha256": store.sha256(path), "bytes": path.stat().st_size}


def _relative(path: str | Path) -> str:
    """A path as a record has it: relative to the working folder where it lies below that."""
    absolute, here = Path(os.path.abspath(path)), Path.cwd()
    return (absolute.relative_to(here) if absolute.is_relative_to(here) else Path(path)).as_posix()
