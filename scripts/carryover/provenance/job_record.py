"""The record beside every result: what was asked, of which code and inputs, with which software, and what came out.

    with job_record.Job(rule="finetune", parameters=p, wildcards=w, inputs=[a], outputs=["results/x.nc"],
                        modules=["finetune", "carryover.families.diagonal.finetune"], seeds=[0, 1]) as job:
        job.save(dataset)                  # or: figure.savefig(job.path("results/x.png"))

Results are written to temporary files. When the block ends well the inputs are hashed again, the results are hashed and
put in their places, and after all of them their records, `<result>.json`. So an exception leaves what was there before,
and a kill at any instant leaves either a result with its own record, or a result whose hash is not the one in its
record (or that has none), which anyone can see; never a record that vouches for other bytes.

A record is JSON. All but `volatile` and `checksum` is the same whenever the same job runs in the same place:

    carryover_record    1, the version of this layout
    rule, wildcards, parameters, seeds      what was asked, by name
    command             the command line, with its paths as given
    inputs, outputs     {path: {sha256, bytes, content}}; content (netCDF alone) is `store.content_digest`; an output
                        may have more, see `Job.describe`: a PNG has `pixels`
    code                {digest, modules, files}: closure of the modules that the job names, as they stood at its start
    definition          `meaning.DEFINITION`, which the digests of code and request follow; records were without one
                        once, and followed the first
    request             `request_digest`; it is known before the results are, so a figure can carry it, which it
                        cannot do with a digest of this record: the record holds the figure's own
    git                 {commit, dirty} of the code, dirty by tracked files alone; null outside a repository
    portable            {job, result}: what `portability` promises elsewhere, of the job alone on the same inputs,
                        and of its results where the inputs were made there as well
    environment         python, conda, versions, blas, cpu, libc, device, accelerator, threads
    volatile            host, platform, pid, start and what the job took, see `spent`; where it went on with what
                        processes that were cut off had done, resumed: {starts, seconds} of these
    checksum            `checksum`, over all of the above
    notes               may be added later, by accept.py

`volatile`, `checksum` and `notes` do not count in `record_digest`.

Paths below the working folder are relative to it, so a moved project keeps its records true. `versions` holds the
distributions that the process had loaded by the end and no others: a new plotting library makes no training stale.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carryover.errors import UserError
from carryover.provenance import code_digest, import_check, meaning, record_schema, store, writing
from carryover.provenance.environment import environment, git_state
from carryover.provenance.portability import LEVELS, promised, weakest
from carryover.provenance.spent import Spent

if TYPE_CHECKING:
    import xarray as xr

VERSION = 1
SCRIPTS = import_check.scripts()
_ASKED = ("rule", "wildcards", "parameters", "seeds")
_NOT_HASHED = ("volatile", "checksum", "notes")


def record_path(result: str | Path) -> Path:
    """Where the record of a result stands: beside it, `<result>.json`."""
    return Path(f"{result}.json")


def read(path: str | Path) -> dict[str, Any]:
    """The record in the file `path`. Raises DataError, in one sentence, where there is none that can be read."""
    try:
        with store.regular(path) as file:
            record = json.loads(file.read())
    except store.DataError:
        raise
    except (ValueError, RecursionError):
        raise store.DataError(f"{path} is truncated or damaged: delete it with its result and run again") from None
    if not isinstance(record, dict) or record.get("carryover_record") != VERSION:
        raise store.DataError(f"{path} is not a record of layout {VERSION}: delete it with its result and run again")
    return record


def whole(path: str | Path) -> dict[str, Any]:
    """As `read`, for those who read more than a key or two: raises DataError for parts that are missing or odd, too."""
    record = read(path)
    if wrong := record_schema.wrong(record):
        again = "delete it with its result and run again"
        raise store.DataError(f"{path} lacks parts of a record, or has odd ones ({', '.join(wrong)}): {again}")
    return record


def as_text(record: Mapping[str, Any]) -> str:
    """The text of a record's file."""
    return json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def record_digest(record: Mapping[str, Any]) -> str:
    """SHA-256 over what is the same whenever a job runs in one place: all but times and the like, checksum, notes."""
    return json_digest({key: value for key, value in record.items() if key not in _NOT_HASHED})


def checksum(record: Mapping[str, Any]) -> str:
    """SHA-256 over everything in a record but its `checksum` and notes, which tells a later edit of any part."""
    return json_digest({key: value for key, value in record.items() if key not in ("checksum", "notes")})


def request_text(record: Mapping[str, Any]) -> str:
    """Rule, wildcards, parameters, seeds, the code's digest and the inputs' contents, as one line of JSON in ASCII."""
    inputs = {path: file.get("content", file["sha256"]) for path, file in record["inputs"].items()}
    asked = {key: record[key] for key in (*_ASKED, "definition") if key in record}
    return _json({**asked, "code": record["code"]["digest"], "inputs": inputs})


def request_digest(record: Mapping[str, Any]) -> str:
    """SHA-256 over `request_text`: what was asked."""
    return hashlib.sha256(request_text(record).encode()).hexdigest()


@dataclass(kw_only=True)
class Job:
    """One job of the workflow as a context manager; see the module's text for its use and for what it records.

    `parameters` is a mapping or dataclass of plain values, `modules` are script and plug-ins by dotted name. Unless
    given `portable` is what they promise, `command` is `sys.argv`. `device` may be set in the block; "auto" finds CUDA.

    Entering raises UserError for a missing input, an output that is one of them or that cannot be written; leaving
    raises it for an input that changed meanwhile, an output that was not written and a loaded module that the record
    would not name, see `import_check.check`.
    """

    rule: str
    outputs: Sequence[str | Path]
    modules: Sequence[str]
    parameters: Any = field(default_factory=dict)
    wildcards: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[str | Path] = ()
    seeds: Sequence[int] = ()
    device: Any = None
    portable: str | None = None
    command: Sequence[str] | None = None

    @property
    def request(self) -> str:
        """`request_digest` of this job, for a figure to carry."""
        return self._record["request"]

    @property
    def request_text(self) -> str:
        """`request_text` of this job, for a figure to carry."""
        return request_text(self._record)

    @property
    def portable_result(self) -> str:
        """What `portability` promises elsewhere of what this job makes: no more than of its weakest input."""
        return self._record["portable"]["result"]

    def path(self, output: str | Path) -> Path:
        """Where to write one of the job's outputs: a temporary file with the same suffix."""
        if Path(output) not in self._temporaries:
            raise ValueError(f"{output} is not an output of this job: {', '.join(map(str, self.outputs))}")
        self._latest = Path(output)
        return self._temporaries[self._latest]

    def describe(self, output: str | Path, **facts: Any) -> None:
        """Have the record say more of one of the outputs than its size and hash, e.g. `pixels` of a PNG."""
        self._facts.setdefault(self.path(output), {}).update(facts)

    def went_on(self, starts: int, seconds: float) -> None:
        """Have the record tell how many processes that were cut off had done a part before, and in how long."""
        self._resumed = {"resumed": {"starts": starts, "seconds": seconds}} if starts else {}

    def save(self, dataset: xr.Dataset | Sequence[xr.Dataset], output: str | Path | None = None) -> None:
        """Write a dataset, or several, with what was asked among the attributes, as `output` (by default the job's only
        one)."""
        if output is None and len(self.outputs) != 1:
            raise ValueError(f"output must be one of {', '.join(map(str, self.outputs))}")
        asked = {key: self._record[key] for key in _ASKED}
        store.write(dataset, self.path(self.outputs[0] if output is None else output), record=asked)

    def __enter__(self) -> Job:
        self._spent = Spent()
        self._facts, self._resumed = {}, {}
        self.inputs = list(self.inputs)  # an iterator would be empty by the second look
        command = list(sys.argv if self.command is None else self.command)
        writing.refuse_other_than_utf8(*command, *self.inputs, *self.outputs)
        for output in filter(os.path.exists, self.outputs):
            if any(os.path.exists(path) and os.path.samefile(output, path) for path in self.inputs):
                raise UserError(f"{output} is also an input, which would be lost: give the output another name")
        promise = self.portable or promised(self.modules)
        self._record = {
            "carryover_record": VERSION,
            **{key: _plain(getattr(self, key)) for key in _ASKED},
            "command": command,
            "inputs": {shown(path): _fingerprint(Path(path)) for path in self.inputs},
            "code": {"modules": list(self.modules), **code_digest.closure_record(SCRIPTS, *self.modules)},
            "definition": meaning.DEFINITION,
            "git": git_state(SCRIPTS),
            "portable": {"job": promise, "result": weakest([promise, *map(_promised, self.inputs)])},
        }
        self._record["request"] = request_digest(self._record)
        with ExitStack() as stack:
            self._temporaries = {Path(one): stack.enter_context(writing.temporary(one)) for one in self.outputs}
            self._stack = stack.pop_all()
        self._latest = next(iter(self._temporaries), None)
        return self

    def __exit__(self, kind, error, trace) -> None:
        with self._stack:
            if kind is None:
                self._finish()
            elif self._latest:  # of several outputs, the one that was being written
                writing.refuse_full_disk(error, self._temporaries[self._latest], self._latest)

    def _finish(self) -> None:
        for output, temporary in self._temporaries.items():
            if not temporary.is_file() or not temporary.stat().st_size:
                raise UserError(f"{self.rule} did not write its output {output}")
        import_check.check(self.rule, SCRIPTS, self._record["code"]["files"])
        files = self._temporaries.items()
        outputs = {shown(output): {**_fingerprint(file), **self._facts.get(file, {})} for output, file in files}
        for path in self.inputs:
            if store.sha256(path) != self._record["inputs"][shown(path)]["sha256"]:
                raise UserError(f"{path} changed while {self.rule} ran: run it again")
        record = {**self._record, "outputs": outputs, "environment": environment(self.device)}
        record["volatile"] = self._spent.by_now() | self._resumed
        self._publish(as_text({**record, "checksum": checksum(record)}))

    def _publish(self, text: str) -> None:
        """Put the results, then the records in their places; should that fail half way, take back what was put."""
        records = {}
        for path in map(record_path, self._temporaries):  # before anything is put: the disk may be full by now
            records[path] = self._stack.enter_context(writing.temporary(path))
            records[path].write_text(text, encoding="utf-8")
        placed = []
        try:
            for path, temporary in (self._temporaries | records).items():
                writing.settle(temporary, path)
                placed.append(path)
        except BaseException:
            for path in (*placed, *map(record_path, placed)):
                with suppress(OSError):
                    path.unlink()
            raise


def _promised(path: str | Path) -> str:
    """What is promised elsewhere of an input: the same bits where it was not made here."""
    with suppress(store.DataError, LookupError, TypeError):
        return weakest([read(record_path(path))["portable"]["result"]])
    return LEVELS[0]


def _fingerprint(path: Path) -> dict[str, Any]:
    """{sha256, bytes} of a file; for netCDF also its content, from the file's own record if that has these bytes."""
    fingerprint = {"sha256": store.sha256(path), "bytes": path.stat().st_size}
    if path.suffix == ".nc":
        with suppress(store.DataError):  # netCDF of others: whether that will do is for its reader to say
            fingerprint["content"] = _known_content(path, fingerprint["sha256"]) or store.content_digest(path)
    return fingerprint


def _known_content(path: Path, sha256: str) -> str | None:
    with suppress(store.DataError, LookupError, TypeError, AttributeError, StopIteration):
        return next(k["content"] for k in read(record_path(path))["outputs"].values() if k["sha256"] == sha256)


def shown(path: str | Path) -> str:
    """A path as a record has it: relative to the working folder where it lies below that."""
    absolute, here = Path(os.path.abspath(path)), Path.cwd()
    return (absolute.relative_to(here) if absolute.is_relative_to(here) else Path(path)).as_posix()


def _plain(value: Any) -> Any:
    """A parameter as it comes back from JSON; numbers that JSON has not become the text NaN, Infinity or -Infinity."""
    return json.loads(json.dumps(value, default=_simpler), parse_constant=str)


def _simpler(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if is_dataclass(value):
        return asdict(value)
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return value.tolist()
    raise ValueError(f"a parameter is {value!r}: allowed are None, text, numbers, and lists and mappings of them")


def json_digest(value: Any) -> str:
    """SHA-256 over a value's JSON, with sorted keys, without spaces, in ASCII."""
    return hashlib.sha256(_json(value).encode()).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
