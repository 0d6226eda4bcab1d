"""A project in which some jobs have run: pretrain → finetune → collect → figure, with data from outside."""

import json
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import xarray as xr

from carryover.provenance import job_record

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "CITATION.cff", "README.md", "config", "rules", "scripts")
FIGURES = ["results/figures/risk.png", "results/figures/risk.pdf"]
PRETRAINED, SHARD, RISK = "results/toy/pretrain/a=1/0.nc", "results/toy/finetune/all/0.nc", "results/toy/risk.nc"
DATA = "../data/labels.idx"
CHAIN = (
    ("pretrain", [DATA], PRETRAINED, {"samples": 16, "tied": False}),
    ("finetune", [PRETRAINED], SHARD, {"samples": [1, 2], "scale": None}),
    ("collect", [SHARD], RISK, {}),
)


@contextmanager
def job(rule, inputs, outputs, **told):
    """A job as its script opens it."""
    kwargs = {"rule": rule, "inputs": inputs, "outputs": outputs, "modules": ["carryover.provenance.store"]}
    command = [f"scripts/{rule}.py", "--output", *outputs]
    with mock.patch.object(sys, "argv", command), job_record.Job(**kwargs, **told) as running:
        yield running


def dataset(value=1.0):
    return xr.Dataset({"w": ("x", np.full(3, value), {"long_name": "made for a test", "units": "1"})})


def start(folder):
    """The project's own files in a new folder, and data beside it."""
    for part in PARTS:
        source, target = ROOT / part, Path(folder) / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    (Path(folder) / DATA).parent.mkdir()
    (Path(folder) / DATA).write_text("labels")


def run():
    """All jobs, in the working folder."""
    for rule, inputs, output, parameters in CHAIN:
        with job(rule, inputs, [output], parameters=parameters, seeds=[0, 1]) as running:
            running.save(dataset())
    with job("figure", [RISK, "config/figures.mplstyle"], FIGURES, parameters={"title": "Größe"}) as running:
        for output in FIGURES:
            running.path(output).write_text(f"drawn as {output}")


def record(name):
    return json.loads(Path(f"{name}.json").read_text())
