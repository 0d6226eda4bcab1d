"""What a job loads before it works, counted in modules: a job that starts late is work done hundreds of times."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended


SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LOADED = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
print(json.dumps(sorted(sys.modules)))
"""
TABLES = 950  # xarray, pandas, pydantic and what they bring along
SOLVERS = 300  # parts of SciPy
DRAWING = 200
TORCH = 850
SPARED = {"torch", "sklearn", "matplotlib", "scipy.stats", "scipy.optimize", "jsonschema"}
# {(script, plug-ins): (most modules, what of `SPARED` it needs)}
JOBS = {
    ("finetune", "families.diagonal.finetune", "families.diagonal.exact"): (TABLES + SOLVERS, ()),
    ("finetune", "families.diagonal.finetune", "families.diagonal.flow"): (TABLES + SOLVERS + TORCH, ("torch",)),
    ("measure", "measures.sparsity"): (TABLES, ()),
    ("check_claims", "claims.feature_reuse"): (TABLES + SOLVERS, ()),
    ("figure", "figures.facets"): (TABLES + DRAWING, ("matplotlib",)),
}


@pytest.mark.parametrize("job", JOBS, ids=lambda job: " ".join((job[0], job[-1].rpartition(".")[0][-12:], job[-1])))
def test_a_job_loads_no_more_than_it_needs(job):
    script, *plugins = job
    names = [script, *(f"carryover.{name}" for name in plugins)]
    done = subprocess.run([sys.executable, "-c", LOADED, SCRIPTS, *names], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    loaded, (most, needed) = json.loads(done.stdout), JOBS[job]
    assert SPARED & set(loaded) == set(needed)
    assert len(loaded) <= most
