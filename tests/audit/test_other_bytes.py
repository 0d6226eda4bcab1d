"""The same content in other bytes is counted apart, and figures carry the request that their record has."""

import netCDF4
import pytest
from PIL import Image, PngImagePlugin

from carryover.audit import report
from carryover.commands import audit
from carryover.provenance import figure_metadata, job_record, store
from toy.small_project import EXACT
from workflow import file_changes
from workflow import mutations as m
from workflow.mutation_rows import AFTER_EXACT, FIGURE

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]
PNG = "results/figures/relu_penalty.png"


def hidden_group(path):
    with netCDF4.Dataset(path, "a") as file:
        file.createGroup("hidden").setncattr("x", 1)


def words(path):
    with netCDF4.Dataset(path, "a") as file:
        next(iter(file.variables.values())).setncattr("coordinates", "hidden")


def test_re_encoded_results_are_counted_and_fail_where_bytes_are_asked_for(project, capsys):
    m.on(EXACT, file_changes.recode)(project)
    found = project.findings()
    assert {path: one.reencoded for path, one in found.items() if one.reencoded} == {EXACT: (EXACT,)}
    said = "All 14 artefacts are OK; 1 re-encoded, with the recorded content in other bytes."
    assert report.summary(found.values()) == said
    audit.main([])
    assert said in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        audit.main(["--bytes", "--json", "audit.json"])
    assert (end.value.code, '"passed": false' in (project.folder / "audit.json").read_text()) == (1, True)


def test_a_re_encoded_input_from_outside_is_counted_with_what_was_made_of_it(project):
    outside = project.folder / "outside.nc"
    outside.write_bytes((project.folder / EXACT).read_bytes())
    known = {"sha256": store.sha256(outside), "bytes": 1, "content": store.content_digest(outside)}

    def read(record):
        record["inputs"]["outside.nc"] = known
        record["request"] = job_record.request_digest(record)

    m.record(EXACT, read)(project)
    assert project.verdicts() == {}
    file_changes.recode(outside)
    found = project.findings()[EXACT]
    assert (found.verdict, found.reencoded) == ("OK", ("outside.nc",))
    assert found.remarks == ("re-encoded: other bytes, same content of outside.nc",)


@pytest.mark.parametrize("change", [hidden_group, words])
def test_what_no_dataset_shows_is_altered(change, project):
    m.on(EXACT, change)(project)
    assert project.verdicts() == {EXACT: "ALTERED", **dict.fromkeys(AFTER_EXACT, "DOWNSTREAM-OF")}


def stripped(path):
    Image.open(path).convert("RGBA").save(path)


def relabelled(path):
    """The request of another figure, which is a true one."""
    other = job_record.read(f"{FIGURE[0]}.json")
    text = PngImagePlugin.PngInfo()
    for key, value in figure_metadata.metadata(".png", job_record.request_text(other)).items():
        text.add_text(key, value)
    Image.open(path).save(path, pnginfo=text)


@pytest.mark.parametrize(
    ("change", "cause"), [(stripped, "it carries no request"), (relabelled, "it carries another request, ")]
)
def test_a_figure_must_carry_the_request_of_its_record(change, cause, project):
    """The record says what bytes there are now: only the figure itself still tells."""
    change(project.folder / PNG)
    facts = {"sha256": store.sha256(PNG), "bytes": (project.folder / PNG).stat().st_size}
    m.record(PNG, lambda record: record["outputs"][PNG].update(facts))(project)
    found = project.findings()[PNG]
    assert (found.verdict, found.cause.startswith(cause)) == ("ALTERED", True)
