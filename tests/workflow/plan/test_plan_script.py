"""The plan of the workflow's small project: from records as jobs write them, from made-up ones, from bad ones."""

import json
import os
import re
import subprocess
import sys

import pytest
import yaml

import plan
from carryover.config import configuration
from carryover.errors import UserError
from carryover.workflow.plan import measured, rates, table, work
from carryover.workflow.points import Wildcards
from carryover.workflow.sweep import Sweep
from toy.small_project import ROOT, TINY

pytestmark = pytest.mark.slow

SCHEMA = configuration.schema()
MADE = Sweep(TINY, SCHEMA, ROOT / "scripts")
DESCENT = Wildcards(experiment="tiny", point="protocol~single_task_solver~descent", block=0)
EXACT = Wildcards(experiment="tiny", point="pretrain_solver~exact_protocol~finetuning_solver~exact", block=0)


def recorded(folder, name, **changes):
    """A record as the finetuning by descent in the small project leaves it, but for `changes`: its file."""
    path = folder / f"{name}.nc.json"
    record = {
        "carryover_record": 1,
        "rule": "finetune",
        "command": ["scripts/finetune.py", "diagonal"],
        "parameters": dict(MADE.points("tiny", "finetune")[DESCENT.point].values),
        "wildcards": dict(DESCENT),
        "seeds": [0, 1],
        "inputs": {},
        "outputs": {f"results/{name}.nc": {"sha256": "", "bytes": 0}},
        "code": {"digest": "", "modules": [], "files": {}},
        "request": "",
        "git": None,
        "environment": {"python": "cpython 3.11.7", "versions": {}, "blas": [], "device": "cpu", "accelerator": None,
                        "threads": {}},
        "volatile": {"host": "", "platform": "", "start": "2020-01-01", "duration": 2.0, "starting": 1.5,
                     "processor_time": 4.0, "peak_memory": 200_000_000,
                     "resumed": {"starts": 1, "seconds": 1.0}},
    }  # fmt: skip
    environment = record["environment"] | changes.pop("environment", {})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record | {"environment": environment} | changes))
    return path


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(TINY))
    return tmp_path / "results"


def planned(capsys, *more):
    plan.main(["--configfile", "config.yaml", *more])
    return capsys.readouterr().out


def row(text, *names):
    """The cells of one row by the names of the columns."""
    line = next(line for line in text.splitlines() if re.split(r"  +", line)[: len(names)] == list(names))
    return dict(zip(table.HEADER[1 if len(names) == 1 else 2 :], re.split(r"  +", line)[len(names) :], strict=False))


@pytest.mark.parametrize("rule", ["finetune", "curve"])
def test_a_job_that_ran_is_known_by_its_record(rule, results, capsys):
    wildcards, name, place = {
        "finetune": (DESCENT, f"tiny/finetune/{DESCENT.point}/0", ("tiny", "finetune")),
        "curve": (Wildcards(curve="relu_penalty"), "theory/relu_penalty", ("all that is made of data", "curve")),
    }[rule]
    command = [sys.executable, ROOT / f"scripts/{rule}.py", *MADE.flags(rule)(wildcards)]
    command += ["--output", results / f"{name}.nc", "--wildcards", *(f"{k}={v}" for k, v in wildcards.items())]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=120)
    done, passed_over = measured.read(results, SCHEMA)
    assert (len(done), passed_over) == (1, 0)
    assert done[0].seconds > done[0].inside > 0
    assert done[0].processor > done[0].seconds - done[0].inside
    expected = rates.Estimate(done[0].seconds, 0.0, measured=True)
    assert rates.Rates(done).estimate(work.of_job(MADE, rule, wildcards)) == expected
    assert row(planned(capsys), *place)["measured"] == "1"


def test_every_job_of_the_configuration_is_counted_once(results, capsys):
    text = planned(capsys)
    assert "Nothing was measured yet" in text
    found = row(text, "all", "all")
    # 1 pretrained; 2 finetuned, both measured once; 2 collected; 1 curve; 2 figures.
    assert (found["jobs"], found["not known"], found["2 cores"]) == ("10", "10", "not measured")


def test_parameters_and_seeds_make_another_job(results):
    recorded(results, "tiny/finetune/a/0")
    recorded(results, "tiny/finetune/b/0", seeds=[0, 1, 2])
    values = MADE.points("tiny", "finetune")[DESCENT.point].values
    recorded(results, "tiny/finetune/c/0", parameters={**values, "tolerance": 0.001})
    recorded(results, "tiny/finetune/d/0", parameters={**values, "max_steps": 1_000_000})  # the default
    asked = work.of_job(MADE, "finetune", DESCENT)
    assert [job.work == asked for job in measured.read(results, SCHEMA)[0]] == [True, False, False, True]


def test_sizes_are_what_one_job_works_on():
    sizes = work.of_job(MADE, "finetune", EXACT).sizes
    # 2 seeds, 2 numbers of samples, 2 overlaps.
    assert (sizes["runs"], sizes["samples"], sizes["dimension"]) == (8, 6, 12)
    measure = work.of_job(MADE, "measure", Wildcards(**EXACT, measure="sparsity"))
    assert measure.kind == ("measure", "sparsity", "diagonal")
    assert measure.sizes["sparsity.largest_k"] == 4
    assert measure.sizes["runs"] == 8
    assert "max_steps" not in measure.sizes
    assert work.of_job(MADE, "collect", Wildcards(experiment="tiny", measure="risk")).sizes == {"shards": 2}


def test_a_measurement_on_the_gpu_is_a_rate_there_and_not_here(results, capsys):
    recorded(results, f"tiny/finetune/{DESCENT.point}/0", environment={"accelerator": {"name": "NVIDIA H200"}})
    found = row(planned(capsys), "tiny", "finetune")
    assert (found["measured"], found["not known"], found["one H200"]) == ("0", "2", "not measured")
    # The other finetuning is solved exactly, which has no rate anywhere.
    job = measured.read(results, SCHEMA)[0][0]
    assert rates.Rates([job]).estimate(work.of_job(MADE, "finetune", DESCENT)).seconds == 4.5


def test_jobs_of_unknown_plug_ins_or_on_what_is_missing_are_passed_over(results):
    recorded(results, "tiny/finetune/gone/0", command=["scripts/finetune.py", "nosuch"])
    recorded(results, "tiny/measure/risk/lone/0", rule="measure", command=["scripts/measure.py", "risk"], parameters={})
    recorded(results, "tiny/finetune/good/0")
    jobs, passed_over = measured.read(results, SCHEMA)
    assert (len(jobs), passed_over) == (1, 2)


def test_a_record_from_before_these_times_counts_what_it_has(results):
    old = {"host": "", "platform": "", "start": "2020-01-01", "duration": 3.0, "peak_memory": 10**8}
    recorded(results, "tiny/finetune/a/0", volatile=old)
    job = measured.read(results, SCHEMA)[0][0]
    assert (job.seconds, job.inside, job.processor, job.megabytes) == (3.0, 3.0, 3.0, 100.0)


def test_bad_input_is_one_sentence(results, capsys):
    with pytest.raises(UserError, match="--measured nowhere: there is no such folder"):
        planned(capsys, "--measured", "nowhere")
    recorded(results, "tiny/finetune/a/0").write_text('{"carryover_record": 1')
    with pytest.raises(UserError, match=r"0\.nc\.json is truncated or damaged"):
        planned(capsys, "--measured", "results")
