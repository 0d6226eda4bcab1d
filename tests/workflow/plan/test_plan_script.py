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

HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
SCHEMA = configuration.schema()
MADE = Sweep(TINY, SCHEMA, ROOT / "scripts")
DESCENT = Wildcards(experiment="tiny", point="protocol~single_task_solver~descent", block=0)
EXACT = Wildcards(experiment="tiny", point="pretrain_solver~exact_protocol~finetuning_solver~exact", block=0)


def benchmark(folder, name, seconds="4.5", megabytes="200.00"):
    path = folder / "benchmarks" / f"{name}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEAD}{seconds}\t0:00:04\t{megabytes}" + "\t1.0" * 7 + "\n")
    return path


def recorded(folder, name, **changes):
    """A benchmark and a record as the finetuning by descent in the small project leaves them, but for `changes`."""
    record = {
        "carryover_record": 1,
        "rule": "finetune",
        "command": ["scripts/finetune.py", "diagonal"],
        "parameters": dict(MADE.points("tiny", "finetune")[DESCENT.point].values),
        "wildcards": dict(DESCENT),
        "seeds": [0, 1],
        "inputs": {},
        "environment": {"accelerator": None},
        "volatile": {"duration": 3.0},
        **changes,
    }
    path = folder / f"{name}.nc.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return benchmark(folder, name)


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
    benchmark(results, name)
    done, passed_over = measured.read(results, SCHEMA)
    assert (len(done), passed_over) == (1, 0)
    assert rates.Rates(done).estimate(work.of_job(MADE, rule, wildcards)) == rates.Estimate(4.5, 0.0, measured=True)
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


def test_benchmarks_without_a_record_or_of_unknown_plug_ins_are_passed_over(results):
    benchmark(results, "tiny/finetune/none/0")
    recorded(results, "tiny/finetune/gone/0", command=["scripts/finetune.py", "nosuch"])
    recorded(results, "tiny/measure/risk/lone/0", rule="measure", command=["scripts/measure.py", "risk"], parameters={})
    recorded(results, "tiny/finetune/good/0")
    jobs, passed_over = measured.read(results, SCHEMA)
    assert (len(jobs), passed_over) == (1, 3)


def test_memory_that_snakemake_did_not_see_is_none(results):
    recorded(results, "tiny/finetune/a/0")
    benchmark(results, "tiny/finetune/a/0", megabytes="NA")
    assert measured.read(results, SCHEMA)[0][0].megabytes == 0


def test_bad_input_is_one_sentence(results, capsys):
    with pytest.raises(UserError, match="--measured nowhere: there is no such folder"):
        planned(capsys, "--measured", "nowhere")
    recorded(results, "tiny/finetune/a/0").write_text("s\th:m:s\nsoon\t0\n")
    with pytest.raises(UserError, match=r"a/0\.tsv is not a benchmark as Snakemake writes it"):
        planned(capsys, "--measured", "results")
    (results / "tiny/finetune/a/0.nc.json").write_text("{")
    with pytest.raises(UserError, match=r"0\.nc\.json is truncated or damaged"):
        planned(capsys, "--measured", "results")
