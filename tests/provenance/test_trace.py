"""`trace` says where a figure came from, also a copy that was altered."""

import shutil
from pathlib import Path

import pytest
from PIL import Image

from carryover.commands import trace
from carryover.errors import UserError
from carryover.provenance import job_record, store
from toy.small_project import DESCENT, EXACT

pytestmark = pytest.mark.xdist_group("audit")

FIGURES = [f"results/figures/tiny_risk.{suffix}" for suffix in ("png", "pdf")]
RISK, PRETRAINED, STYLE = (
    "results/tiny/risk.nc",
    "results/tiny/pretrain/initial_scale~0.01_solver~exact/0.nc",
    "config/figures.mplstyle",
)


def traced(capsys, *words):
    trace.main([str(word) for word in words])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_found_by_its_bytes_and_an_altered_one_by_its_metadata(project, capsys, name):
    copy = Path(name).name
    shutil.copy(name, copy)
    assert any(line.startswith(f"  is {name}, by its bytes") for line in traced(capsys, copy))
    with open(copy, "ab") as file:
        file.write(b"\n")
    # the formats of one job carry the same request
    assert any(line.startswith(f"  is {name}, by its request alone") for line in traced(capsys, copy))


def test_an_edited_request_of_a_figure_is_told(project, capsys):
    whole = Path(FIGURES[0]).read_bytes()
    assert b'"rule":"figure"' in whole
    Path("edited.png").write_bytes(whole.replace(b'"rule":"figure"', b'"rule":"Figure"'))
    assert traced(capsys, "edited.png")[1].endswith(", and a text that was changed since")
    assert not traced(capsys, FIGURES[0])[1].endswith("since")


def test_promise_trace_says_where_a_figure_came_from(project, capsys):
    lines = traced(capsys, FIGURES[0])
    chain = [line[4:] for line in lines[lines.index(f"  is {FIGURES[0]}, by its bytes") + 1 :]]
    depths = {FIGURES[0]: 0, RISK: 1, EXACT: 2, PRETRAINED: 3, DESCENT: 2}
    for name, depth in depths.items():
        record = job_record.read(f"{name}.json")
        digests = f"record {job_record.record_digest(record)[:12]}, code {record['code']['digest'][:12]}"
        assert any(line.startswith(f"{'  ' * depth}{name}: {record['rule']}, {digests}") for line in chain), name
    assert f"  {STYLE}: sha256 {store.sha256(STYLE)[:12]}, not made here" in chain


def test_a_result_outside_the_folder_is_traced_by_the_record_next_to_it(project, capsys, tmp_path, monkeypatch):
    for name in (RISK, f"{RISK}.json"):
        shutil.copy(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert traced(capsys, "risk.nc")[1] == f"  is {RISK}, by its bytes"


def test_a_figure_that_cannot_be_traced_is_one_sentence(project):
    Image.new("RGBA", (3, 2)).save("x.png")
    with pytest.raises(UserError, match=r"^x\.png: no request inside, and no result in results has these bytes$"):
        trace.main(["x.png"])
