"""A record says what was asked and what came out, and never vouches for other bytes."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from carryover.errors import UserError
from carryover.provenance import code_digest, job_record, store

SCRIPTS = job_record.SCRIPTS
MODULES = ["carryover.provenance.store"]


def made(value=1.0):
    return xr.Dataset({"w": ("x", np.full(3, value), {"long_name": "made for a test", "units": "1"})})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.save(made(), "in.nc")
    return tmp_path


def job(**changes):
    told = {"rule": "finetune", "inputs": ["in.nc"], "outputs": ["out/x.nc"], "modules": MODULES, "command": ["s.py"]}
    return job_record.Job(**(told | changes))


def done(value=1.0, **changes):
    with job(**changes) as running:
        running.save(made(value))
    return job_record.read("out/x.nc.json")


def files():
    return sorted(str(path) for path in Path().rglob("*") if path.is_file())


def test_record_says_it_all(here):
    with job(
        parameters={"sizes": (1, np.float64(0.1)), "depth": 2},
        wildcards={"block": 0},
        seeds=[np.int64(3)],
        device="cpu",
    ) as running:
        running.save(made(2.0))
    record = job_record.read(job_record.record_path("out/x.nc"))
    assert record["parameters"] == {"sizes": [1, 0.1], "depth": 2}
    assert (record["rule"], record["wildcards"], record["seeds"]) == ("finetune", {"block": 0}, [3])
    assert record["command"] == ["s.py"]
    for group, path in (("inputs", "in.nc"), ("outputs", "out/x.nc")):
        found = {"sha256": store.sha256(path), "bytes": os.path.getsize(path)}
        assert record[group] == {path: found}
    code, sources = code_digest.closure_digest(SCRIPTS, *MODULES), code_digest.closure_files(SCRIPTS, *MODULES)
    assert record["code"] == {"digest": code, "modules": MODULES, "files": sources}
    environment = record["environment"]
    assert (environment["device"], environment["accelerator"]) == ("cpu", None)
    assert environment["conda"] == (Path(sys.prefix) / "conda-meta").is_dir()
    spent = record["volatile"]
    times = {"start", "duration", "processor_time", "starting"}
    assert spent.keys() == {"host", "platform", "pid", "peak_memory", *times}
    assert 0 < spent["starting"] < spent["processor_time"]
    assert 2**20 < record["volatile"]["peak_memory"] < 2**40
    assert running.request == record["request"] == job_record.request_digest(record)
    rest = {key: value for key, value in record.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    assert record["checksum"] == hashlib.sha256(text.encode()).hexdigest() == job_record.checksum(record)
    asked = json.loads(store.load("out/x.nc").attrs[store.RECORD])
    assert asked == {key: record[key] for key in ("rule", "wildcards", "parameters", "seeds")}


def test_all_but_the_volatile_part_is_deterministic(here):
    first = done()
    second = done()
    assert job_record.record_digest(first) == job_record.record_digest(second)
    same = {"volatile": 0, "checksum": 0}
    assert {**first, **same} == {**second, **same}
    text = json.dumps(second, indent=1, sort_keys=True, ensure_ascii=False)
    assert Path("out/x.nc.json").read_text() == text + "\n"
    assert job_record.record_digest({**first, "rule": "other"}) != job_record.record_digest(first)


def test_request_is_of_what_was_asked_alone(here):
    base = done()["request"]
    assert done(command=["elsewhere.py"], device="cpu")["request"] == base
    others = [{"parameters": {"a": 1}}, {"seeds": [1]}, {"wildcards": {"a": "1"}}, {"modules": ["carryover.errors"]}]
    assert len({base} | {done(**change)["request"] for change in others}) == 5
    store.save(made(7.0), "in.nc")
    assert done()["request"] != base


def test_several_outputs_share_one_record(here):
    outputs = ["f/a.png", "f/a.svg"]
    with job(outputs=outputs) as running:
        for output in outputs:
            assert running.path(output).suffix == Path(output).suffix
            running.path(output).write_text(running.request)
    one, other = [job_record.read(job_record.record_path(output)) for output in outputs]
    assert [one["outputs"][output]["sha256"] for output in outputs] == [store.sha256(output) for output in outputs]
    assert one == other
    assert files() == ["f/a.png", "f/a.png.json", "f/a.svg", "f/a.svg.json", "in.nc"]


def tamper(path):
    """Change one bit; size and time stay."""
    stat, data = os.stat(path), bytearray(Path(path).read_bytes())
    data[-1] ^= 1
    Path(path).write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("change", [tamper, lambda path: store.save(made(9.0), path), os.remove])
def test_an_input_that_changes_fails_the_job(here, change):
    before = done()
    running = job()
    running.__enter__()
    running.save(made(2.0))
    change("in.nc")
    with pytest.raises(UserError, match=r"^in\.nc (changed while finetune ran: run it again|is missing)"):
        running.__exit__(None, None, None)
    assert job_record.read("out/x.nc.json") == before
    assert store.sha256("out/x.nc") == before["outputs"]["out/x.nc"]["sha256"]
    assert set(files()) - {"in.nc"} == {"out/x.nc", "out/x.nc.json"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_what_was_there(here, error):
    done()
    before = {path: Path(path).read_bytes() for path in files()}

    def fail():
        with job(outputs=["out/x.nc", "out/new.nc"]) as running:
            running.save(made(2.0), "out/x.nc")
            running.save(made(2.0), "out/new.nc")
            raise error

    with pytest.raises(error):
        fail()
    assert {path: Path(path).read_bytes() for path in files()} == before


def test_refuses_what_it_cannot_do(here):
    cases = [
        ({"inputs": ["gone.nc"]}, r"gone\.nc is missing: run the step that makes it"),
        ({"outputs": ["in.nc/x.nc"]}, r"cannot write into the folder in\.nc"),
        ({"outputs": ["ok.nc", "in.nc/x.nc"]}, r"cannot write into the folder in\.nc"),
        ({"modules": ["carryover.gone"]}, r"no module carryover\.gone"),
        ({"outputs": ["out/x.nc", "out/y.nc"]}, r"finetune did not write its output out/y\.nc"),
    ]
    for change, sentence in cases:
        with pytest.raises(UserError, match=sentence), job(**change) as running:
            running.save(made(), "out/x.nc")
        assert files() == ["in.nc"]
    with pytest.raises(ValueError, match=r"a parameter is <object .*: allowed are None, text, numbers"):
        job(parameters={"a": object()}).__enter__()


def test_an_edited_record_is_refused(here):
    done()
    record = Path("out/x.nc.json")
    record.write_text(record.read_text().replace('"bytes": ', '"bytes": 1'))
    with pytest.raises(store.DataError, match=r"x\.nc\.json has been edited: it is not what its checksum says"):
        job_record.whole(record)
    record.write_text(record.read_text()[:500])
    with pytest.raises(store.DataError, match=r"x\.nc\.json is truncated or damaged"):
        job_record.whole(record)


@pytest.mark.parametrize("output", ["in.nc", "./in.nc", "link.nc", "twin.nc"])
def test_an_output_that_is_an_input_is_refused(here, output):
    Path("link.nc").symlink_to("in.nc")
    os.link("in.nc", "twin.nc")
    before = Path("in.nc").read_bytes()
    with pytest.raises(UserError, match=f"{output} is also an input, which would be lost"), job(outputs=[output]):
        pytest.fail("the job ran")
    assert Path("in.nc").read_bytes() == before
    assert Path("link.nc").is_symlink()


KILLS = """
import itertools, json, os, random, signal, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # fork beside the threads of a BLAS, which stand still
import numpy as np, xarray as xr
from carryover.provenance import job_record, store
OUT, RECORD = "out/x.nc", "out/x.nc.json"
def work(i, out=OUT):
    told = {"modules": ["carryover.provenance.store"], "command": []}
    job = job_record.Job(rule="r", parameters={"i": i}, outputs=[out], **told)
    values = np.random.default_rng(i).normal(size=30_000)
    with job:
        job.save(xr.Dataset({"w": ("x", values, {"long_name": "made for a test", "units": "1"})}))
job_record.git_state = lambda folder: None  # a child of the child that is killed would outlive it
work(0, "reference.nc")
pairs = 0
for kills in range(200):  # as many as it takes, on a busy machine too
    if kills >= 20 and pairs > 5:
        break
    child = os.fork()
    if not child:
        for i in itertools.count(1):
            work(i)
    time.sleep(random.uniform(0.01, 0.15))  # by chance, another each time
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert os.path.exists(OUT) or not os.path.exists(RECORD)
    data = os.path.exists(OUT) and store.load(OUT)  # whole, whatever its record says
    record = os.path.exists(RECORD) and job_record.read(RECORD)
    if record and record["outputs"][OUT]["sha256"] == store.sha256(OUT):
        assert json.loads(data.attrs[store.RECORD])["parameters"] == record["parameters"]
        pairs += 1
work(0)
assert sorted(os.listdir("out")) == ["x.nc", "x.nc.json"], os.listdir("out")
assert store.sha256(OUT) == store.sha256("reference.nc")
print(pairs)
"""


@pytest.mark.extended
def test_killed_at_any_time(here):
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    finished = subprocess.run([sys.executable, "-c", KILLS], capture_output=True, text=True, env=environment)
    assert not finished.stderr
    assert int(finished.stdout) > 5
