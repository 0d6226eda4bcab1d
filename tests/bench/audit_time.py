"""An audit of two thousand results, one GiB in all, against the half minute that it may take."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from carryover.provenance import job_record, meaning
from carryover.provenance.environment import environment
from carryover.provenance.spent import Spent
from carryover.workflow import startup

ROOT = Path(__file__).resolve().parents[2]
LIMIT, SIZE = 30.0, 540_000  # seconds; bytes of a result
CONFIG = {
    "experiments": {
        "bench": {
            "family": "diagonal",
            "block": 1,
            "task": {"dimension": 12, "auxiliary_features": 3},
            "pretrain": {"samples": 16, "initial_scale": 0.01},
            "finetune": {"protocol": "finetuning", "solver": "exact", "samples": [4, 8], "main_features": 2},
            "measures": {"risk": {}, "sparsity": {}, "norms": {}},
        }
    }
}


def command(made, rule, wildcards, inputs, output):
    """The command line that the rule gives."""
    if rule == "collect":
        words = startup.words(made, rule, wildcards)
    else:
        flag = {"pretrain": [], "finetune": ["--pretrained"], "measure": ["--finetuned"]}[rule]
        words = [*startup.words(made, rule, wildcards), *flag, *inputs]
    names = {"measure": ("experiment", "measure", "point", "block")}.get(rule, tuple(wildcards))
    pairs = [f"{name}={wildcards[name]}" for name in names]
    return [f"scripts/{rule}.py", *words, "--wildcards", *pairs, "--output", output]


def upstream(made, rule, wildcards):
    folder = f"{made.results}/{{experiment}}"
    if rule == "finetune":
        return made.upstream(f"{folder}/pretrain/{{point}}/{{block}}.nc", rule)(wildcards)
    if rule == "measure":
        return [f"{folder}/finetune/{{point}}/{{block}}.nc".format(**wildcards)]
    words = startup.words(made, rule, wildcards) if rule == "collect" else []
    return [word for word in words if word.endswith(".nc")]  # without --select and its measure


def fill(made):
    """Write a result with its record for every job; the number of bytes."""
    noise, facts, here, total = os.urandom(2 * SIZE), {}, environment(), 0
    for number, (rule, wildcards, output) in enumerate(sorted(made.jobs(), key=lambda job: job[0] == "collect")):
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        Path(output).write_bytes(noise[number : number + SIZE])
        total += SIZE
        facts[output] = job_record._fingerprint(Path(output))
        inputs = upstream(made, rule, wildcards)
        modules = made.modules(rule, wildcards)
        files = startup.closure_files(made.scripts, *modules)
        record = {
            "carryover_record": job_record.VERSION,
            "definition": meaning.DEFINITION,
            "rule": rule,
            "wildcards": {k: str(v) for k, v in wildcards.items()},
            "parameters": {},
            "seeds": [],
            "command": command(made, rule, wildcards, inputs, output),
            "inputs": {name: facts[name] for name in inputs},
            "outputs": {output: facts[output]},
            "code": {"digest": made.code(rule)(wildcards), "modules": modules, "files": files},
            "environment": here,
            "git": None,
            "volatile": Spent().by_now(),
        }
        record["request"] = job_record.request_digest(record)
        record["checksum"] = job_record.checksum(record)
        job_record.record_path(output).write_text(job_record.as_text(record))
    return total


def measure(smallest=False):
    """One row; every seed has four results."""
    bench = CONFIG["experiments"]["bench"] | {"seeds": 2 if smallest else 499}
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results")
        config = {"experiments": {"bench": bench}, "pathvars": {"results": str(results)}}
        Path(folder, "config.yaml").write_text(yaml.safe_dump(config))
        made = startup.valid_sweep(config, ROOT)
        total = fill(made)
        words = ["scripts/audit.py", "--configfile", f"{folder}/config.yaml", "--json", f"{folder}/audit.json"]
        start = time.perf_counter()
        subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        seconds = time.perf_counter() - start
        count = json.loads(Path(folder, "audit.json").read_text())["verdicts"]["OK"]
    detail = f"{count} results and records, {total / 2**30:.2f} GiB, {seconds:.1f} s of {LIMIT:g} s"
    yield {"name": "audit, time allowed", "ratio": LIMIT / seconds, "at_least": 1, "detail": detail}
