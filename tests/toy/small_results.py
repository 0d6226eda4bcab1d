"""Results of a toy run in the working folder: three figures, a table and claims, each with its record."""

import sys
from contextlib import contextmanager
from unittest import mock

import numpy as np
import xarray as xr
from PIL import Image

from carryover.claims.support import table as claims_table
from carryover.labels import attributes
from carryover.provenance.job_record import Job
from toy.made_up_runs import group

TITLE, CAPTION = 'Rich & "lazy" <networks>', "Risk <b>along</b> n & m_aux."
CONFIG = {
    "papers": {
        "reuse": {"name": "Feature reuse", "title": "Of features", "first": "risk", "overview": "Some <hold>."},
        "reuse/relu": {"name": "Feature reuse", "title": "Of features", "heading": "ReLU networks", "year": 2024,
                       "authors": "A. <B>", "venue": "NeurIPS", "arxiv": "1234.56789"},
        "penalty": {"name": "Implicit penalty", "title": "A <penalty>"},
    },
    "figures": {
        "relu_penalty": {"data": {"curve": "theory/relu_penalty"}, "paper": "penalty", "caption": "A penalty."},
        "risk": {"data": {"risk": "toy/risk", "published": "resources/published.csv"}, "caption": CAPTION,
                 "paper": "reuse/relu", "supported_by": ["shared/up", "shared/down"]},
        "own": {"data": {"risk": "toy/norms"}},
    },
    "tables": {"ntk_bound": {"data": {"risk": "toy/risk"}, "caption": "Some numbers."}},
    "claims": {"shared": {"data": {"risk": "toy/risk"}}, "norms": {"data": {"norms": "toy/norms"}}},
}  # fmt: skip
SHARDS = [f"results/toy/finetune/all/{block}.nc" for block in (0, 1)]
MARKDOWN = "| bound | n = 10 |\n|-------|--------|\n| a \\| b | 0.1 |\n| <c>    |        |\n\n<!-- request -->\n"


@contextmanager
def job(rule, inputs, outputs, **told):
    """A job as its script opens it."""
    kwargs = {"rule": rule, "inputs": inputs, "outputs": outputs, "modules": ["carryover.provenance.store"]}
    command = [f"scripts/{rule}.py", "--output", *outputs]
    with mock.patch.object(sys, "argv", command), Job(**kwargs, **told) as running:
        yield running


def save(rule, inputs, output, data=None, **told):
    with job(rule, inputs, [output], **told) as running:
        running.save(xr.Dataset({"w": ("x", np.ones(3), attributes("made up"))}) if data is None else data)


def draw(name, source, pixels, title=None):
    outputs = [f"results/figures/{name}.{suffix}" for suffix in ("png", "pdf")]
    parameters = {"title": title} if title else {}
    with job("figure", [source], outputs, parameters=parameters, wildcards={"figure": name}) as running:
        noise = np.random.default_rng(0).integers(0, 255, (*pixels[::-1], 3), dtype=np.uint8)
        Image.fromarray(noise).save(running.path(outputs[0]))
        running.path(outputs[1]).write_bytes(b"%PDF-")


def run():
    """All jobs: two blocks of seeds, of which one is read again by the dataset of norms."""
    save("pretrain", [], "results/toy/pretrain/all/0.nc", seeds=[0, 1])
    save("finetune", ["results/toy/pretrain/all/0.nc"], SHARDS[0], seeds=[0, 1])
    save("finetune", [], SHARDS[1], seeds=[2])
    save("collect", SHARDS, "results/toy/risk.nc")
    save("collect", SHARDS[:1], "results/toy/norms.nc")
    save("curve", [], "results/theory/relu_penalty.nc")
    draw("relu_penalty", "results/theory/relu_penalty.nc", (300, 100))
    draw("risk", "results/toy/risk.nc", (40, 20), title=TITLE)
    draw("own", "results/toy/norms.nc", (1900, 500))
    outputs = [f"results/tables/ntk_bound.{suffix}" for suffix in ("md", "tex")]
    with job("table", ["results/toy/risk.nc"], outputs) as running:
        for output in outputs:
            running.path(output).write_text(MARKDOWN)
    groups = {
        "shared": group({"up": [1.0, 1.1, 0.9], "down": [-1.0, -1.2, -0.9]}, "toy/risk"),
        "norms": group({"open": [0.1, -0.2, 0.3], "large": [2.0, 2.1, 2.2]}, "toy/norms"),
    }
    for name, found in groups.items():
        data = f"results/toy/{'risk' if name == 'shared' else name}.nc"
        save("check_claims", [data], f"results/claims/{name}.nc", found)
    inputs = [f"results/claims/{name}.nc" for name in groups]
    table = claims_table.gather(groups)
    table["headline_paper"] = xr.full_like(table["headline_paper"], "Feature reuse", dtype="<U13")
    save("claims_table", inputs, "results/claims.nc", table)
