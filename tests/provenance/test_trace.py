"""A figure says where it came from, also as a stripped or altered copy."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import matplotlib.figure
import numpy as np
import pytest
import xarray as xr
from PIL import Image

from carryover.commands import trace as trace_figure
from carryover.errors import UserError
from carryover.provenance import figure_metadata, job_record, record_index, store, trace

FIGURES = [f"results/figures/risk.{suffix}" for suffix in ("png", "svg", "pdf")]


def made(value=1.0):
    return xr.Dataset({"w": ("x", np.full(3, value), {"long_name": "made for a test", "units": "1"})})


def job(rule, inputs, outputs, **told):
    return job_record.Job(
        rule=rule, inputs=inputs, outputs=outputs, modules=["carryover.provenance.store"], command=[], **told
    )


def draw(outputs, inputs=("results/toy/risk.nc", "style.txt")):
    drawn = matplotlib.figure.Figure(figsize=(1, 1))
    drawn.subplots().plot([1, 2])
    with job("figure", inputs, outputs, parameters={"title": "Größe <&> (50 %)"}) as running:
        for output in map(Path, outputs):
            drawn.savefig(running.path(output), metadata=figure_metadata.metadata(output.suffix, running.request_text))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Two shards of one pretraining, collected, and a figure of them. Nobody changes it."""
    here = tmp_path_factory.mktemp("project")
    before = Path.cwd()
    os.chdir(here)
    try:
        Path("style.txt").write_text("lines.color: black")
        for rule, inputs, output in (
            ("pretrain", [], "toy/0.nc"),
            ("finetune", ["results/toy/0.nc"], "toy/a.nc"),
            ("finetune", ["results/toy/0.nc"], "toy/b.nc"),
            ("collect", ["results/toy/a.nc", "results/toy/b.nc"], "toy/risk.nc"),
        ):
            with job(
                rule, inputs, [f"results/{output}"], seeds=[*range(12)] if rule == "pretrain" else [0, 1]
            ) as running:
                running.save(made())
        draw(FIGURES)
    finally:
        os.chdir(before)
    return here


@pytest.fixture
def here(project, tmp_path, monkeypatch):
    shutil.copytree(project, tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    return tmp_path / "moved"


def told(capsys, *words):
    trace_figure.main([str(word) for word in words])
    return capsys.readouterr().out


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_found_by_its_bytes_and_an_altered_one_by_what_it_carries(here, name):
    record, known, copy = job_record.read(f"{name}.json"), record_index.all_made("results"), Path(name).name
    shutil.copy(name, copy)
    request, text, result, by = trace.find(copy, known)
    assert request == record["request"] == hashlib.sha256(text.encode()).hexdigest()
    assert json.loads(text)["parameters"] == {"title": "Größe <&> (50 %)"}
    assert json.loads(text)["inputs"]["results/toy/risk.nc"] == store.content_digest("results/toy/risk.nc")
    assert (result.name, by) == (name, "by its bytes")
    with open(copy, "ab") as file:
        file.write(b"\n")
    request, text, result, by = trace.find(copy, known)
    assert (request, result.name) == (record["request"], name)
    assert by.startswith("by its request alone")


def test_promise_trace_says_where_a_figure_came_from(here, capsys):
    known = record_index.all_made("results")
    code, git = known[FIGURES[0]].record["code"]["digest"][:12], known[FIGURES[0]].record["git"]
    end = f", commit {git['commit'][:12]}{' with changes' * git['dirty']}" if git else ""

    def line(name, rule, seeds=", seeds 0, 1"):
        return f"{name}: {rule}, record {job_record.record_digest(known[name].record)[:12]}, code {code}{seeds}{end}"

    lines = told(capsys, FIGURES[0]).splitlines()
    assert [entry[4:] for entry in lines[lines.index(f"  is {FIGURES[0]}, by its bytes") + 1 :]] == [
        line(FIGURES[0], "figure", ""),
        "  " + line("results/toy/risk.nc", "collect"),
        "    " + line("results/toy/a.nc", "finetune"),
        "      " + line("results/toy/0.nc", "pretrain", ", 12 seeds from 0"),
        "    " + line("results/toy/b.nc", "finetune"),
        "      results/toy/0.nc: see above",
        f"  style.txt: sha256 {store.sha256('style.txt')[:12]}, not made here",
    ]


def test_what_cannot_be_found_is_one_sentence(here):
    Image.new("RGBA", (3, 2)).save("x.png")
    Path("z.pdf").write_text("text")
    sentences = {
        "x.png": "x.png: no request inside, and no result in results has these bytes",
        "z.pdf": "z.pdf is no PDF, or damaged: give a whole copy of the figure",
        "no.png": "no.png is missing: run the step that makes it",
    }
    for name, sentence in sentences.items():
        with pytest.raises(UserError) as raised:
            trace_figure.main([name])
        assert str(raised.value) == sentence
