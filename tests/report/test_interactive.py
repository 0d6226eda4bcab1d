"""The interactive atlas shows its cells below the pointer, by the page alone; a report names what it lacks for it."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from carryover import report
from carryover.analysis.atlas import by_seed, cells
from carryover.report import interactive, page
from toy import chromium, small_results
from toy.atlas_runs import mapped, runs

CONFIG = {
    "figures": {
        "risk": {"data": {"risk": "toy/risk"}},
        "atlas": {"data": {"toy": "comparisons/toy"}},
        "drawn_again": {"plot": "atlas", "data": {"toy": "comparisons/toy"}, "options": {"settings": 2}},
    },
    "comparisons": {"toy": {"data": {"risk": "toy/risk"}}},
}
MAP = mapped(runs(spread=0.3), family="Toy </script><b>", theory_is="<i>")
# Hovers over each cell, then clicks the last.
BROWSER = """<body><iframe id="frame" style="width: 1200px; height: 900px" src="%s"></iframe><script>
const frame = document.getElementById("frame");
const until = async found => { while (!found()) await new Promise(done => setTimeout(done, 20)); return found(); };
frame.onload = async () => {
  const page = frame.contentDocument;
  const chart = await until(() => page.querySelector("#chart-atlas svg"));
  const cells = [...chart.querySelectorAll(".mark-rect.role-mark path")];
  const told = [];
  for (const cell of cells) {
    const {left, top} = cell.getBoundingClientRect();
    const where = {bubbles: true, clientX: left + 5, clientY: top + 5, view: frame.contentWindow};
    for (const name of ["pointermove", "mousemove"]) cell.dispatchEvent(new PointerEvent(name, where));
    const rows = page.querySelectorAll("#vg-tooltip-element tr");
    told.push(Object.fromEntries([...rows].map(row => [...row.children].map(one => one.innerText.trim()))));
  }
  cells.at(-1).dispatchEvent(new MouseEvent("click", {bubbles: true, view: frame.contentWindow}));
  await until(() => frame.contentWindow.location.hash);
  const loaded = frame.contentWindow.performance.getEntriesByType("resource").map(one => one.name);
  const found = {told, hash: frame.contentWindow.location.hash, title: chart.textContent,
                 loaded: loaded.filter(name => !name.startsWith("data:"))};
  document.body.innerHTML = "<pre id=result></pre>";
  document.getElementById("result").textContent = JSON.stringify(found);
};
</script></body>"""


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder with figures of the atlas and the map that they show, as the working folder."""
    monkeypatch.chdir(tmp_path)
    small_results.save("compare", [], "results/comparisons/toy.nc", MAP)
    small_results.save("collect", [], "results/toy/risk.nc")
    small_results.draw("risk", "results/toy/risk.nc", (40, 20))
    for name in ("atlas", "drawn_again"):
        small_results.draw(name, "results/comparisons/toy.nc", (40, 20))
    return tmp_path


@pytest.mark.extended
@pytest.mark.skipif(not chromium.PROGRAM, reason="needs Chromium")
def test_a_cell_shows_its_risks_below_the_pointer_and_leads_to_its_figure_without_a_network(results):
    Path("report.html").write_text(page.page(CONFIG, "results", configfile=["my own.yaml"]))
    options = "--virtual-time-budget=20000", "--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND"
    found, log = chromium.result(BROWSER % (results / "report.html").as_uri(), results, *options)
    assert "CONSOLE" not in log
    assert found["loaded"] == []
    assert found["hash"] == "#figure-risk"
    assert "Toy </script><b>" in found["title"]
    table = cells(by_seed(MAP))
    assert len(found["told"]) == len(table) == 9
    for told, cell in zip(found["told"], table.itertuples(), strict=True):
        risks = [float(told[f"Risk {name}"]) for name in ("from scratch", "after transfer")]
        np.testing.assert_allclose(risks, [0.1, 0.1 * 10**-cell.gain], rtol=5e-3)
        assert told["Seeds"] == "6"
        assert told["Verdict"].startswith("open" if cell.open else "pretraining")
        assert told["Command"] == "snakemake --cores all results/comparisons/toy.nc --configfile 'my own.yaml'"
        assert told["A click shows"] == "the figure risk"


def test_verdicts_and_predictions_are_those_of_the_cells(results):
    spec = interactive.chart({"toy": MAP}, 0, {"toy": ""}, {"toy": "risk"})
    (shown,) = (rows for rows in spec["datasets"].values() if rows)
    table = cells(by_seed(MAP))
    right = [{1.0: ", as predicted", 0.0: ", not as predicted"}.get(one, "") for one in table["right"]]
    assert [one["Verdict"].removeprefix("pretraining ") for one in shown] == [
        ("open, since seeds differ" if is_open else "helps" if gain > 0 else "hurts") + words
        for is_open, gain, words in zip(table["open"], table["gain"], right, strict=True)
    ]
    assert json.dumps(spec, allow_nan=False)


def test_a_line_is_between_a_predicted_gain_and_a_predicted_loss():
    table = cells(by_seed(mapped(runs(overlap=[0.0, 0.25, 1.0]))))
    spec = interactive.chart({"toy": mapped(runs(overlap=[0.0, 0.25, 1.0]))}, 0, {"toy": ""}, {"toy": "risk"})
    edges = [rows for rows in spec["datasets"].values() if "Verdict" not in (rows or [{}])[0]]
    signs = {(cell.row, cell.samples): np.sign(cell.predicted) for cell in table.itertuples()}
    columns = sorted({samples for _, samples in signs})
    neighbours = [((row, column), (row - 1, column)) for row, column in signs if row]
    neighbours += [((row, b), (row, a)) for row, _ in [*signs][:: len(columns)] for a, b in pairwise(columns)]
    changes = sorted(one for one, other in neighbours if signs[one] * signs[other] < 0)
    assert changes == sorted((one["row"], one["samples"]) for lines in edges for one in lines)
    assert changes


def test_a_report_without_a_map_or_the_library_says_so_in_one_sentence(results, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "altair", None)
        patch.delitem(sys.modules, "carryover.report.interactive")
        patch.delattr(report, "interactive")
        text = page.page(CONFIG, "results")
    assert text.count("<p>There is no interactive atlas without altair, which is not installed.</p>") == 2
    Path("results/comparisons/toy.nc").unlink()
    text = page.page(CONFIG, "results")
    assert text.count("<p>There is no interactive atlas without results/comparisons/toy.nc.</p>") == 2
    assert "<script" not in text
