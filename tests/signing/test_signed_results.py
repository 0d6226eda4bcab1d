"""What is signed of results: one text for the same records, and the name of each result that is another one since."""

import json
from pathlib import Path

import pytest

from carryover.errors import UserError
from carryover.provenance.job_record import json_digest
from carryover.signing import signed_results

RECORDS = {f"results/{name}.nc": {"rule": "collect", "seeds": [0], "value": name} for name in "abc"}


def said():
    return signed_results.statement(RECORDS, "root")


def test_the_same_records_give_the_same_text():
    backwards = dict(sorted(RECORDS.items(), reverse=True))
    assert signed_results.as_text(said()) == signed_results.as_text(signed_results.statement(backwards, "root"))
    later = {path: record | {"volatile": {"start": "now"}, "checksum": "0"} for path, record in RECORDS.items()}
    assert signed_results.statement(later, "root") == said()


def test_the_root_digest_is_that_of_the_records_in_the_text():
    """As docs/signing.md says, so that anyone can check it."""
    from types import SimpleNamespace

    from carryover.audit import chain

    root = chain.root_digest(SimpleNamespace(lasting=RECORDS))
    assert root == json_digest(sorted(signed_results.statement(RECORDS, root)["records"].items()))


def test_what_changed_is_named():
    edited = RECORDS["results/b.nc"] | {"value": "other"}
    noted = RECORDS["results/c.nc"] | {"notes": [{"reason": "so"}]}
    new = {"results/b.nc": edited, "results/c.nc": noted, "results/d.nc": edited}
    assert list(signed_results.changes(said(), RECORDS | new)) == [
        "results/b.nc is not the one that was signed",
        "results/c.nc has other notes than were signed",
        "results/d.nc is not among what was signed",
    ]
    some = {"results/a.nc": RECORDS["results/a.nc"]}
    assert list(signed_results.changes(said(), some)) == []


def test_what_is_made_on_demand_is_not_signed_and_nothing_else_passes_for_it():
    assert not signed_results.is_signed("results/paper/report.html", {"rule": "report"})
    assert not signed_results.is_signed("results/crate.zip", {"rule": "crate"})
    assert signed_results.is_signed("results/a.nc", {"rule": "report"})
    assert signed_results.is_signed("results/crate.zip", {"rule": "report"})


def test_a_text_that_was_changed_is_read_by_nobody(tmp_path):
    with pytest.raises(UserError, match=r"signed.json is missing: nothing there was signed$"):
        signed_results.read(tmp_path)
    file, text = tmp_path / "signed.json", signed_results.as_text(said())
    file.write_bytes(text)
    assert signed_results.read(tmp_path) == said()
    with pytest.raises(UserError, match=rf"signed.json.sig is missing: {file} is not signed$"):
        signed_results.checked(tmp_path)
    for other in (
        b"",
        text[:-2],
        text + b" ",
        b"[" * 100_000,
        b'"text"\n',
        b"\xff",
        json.dumps(said()).encode(),
        signed_results.as_text(said() | {"carryover_signed": 2}),
        signed_results.as_text(said() | {"records": [1]}),
        signed_results.as_text({"carryover_signed": 1}),
    ):
        file.write_bytes(other)
        with pytest.raises(UserError, match=f"^{file} is damaged, or of a layout other than 1: sign again$"):
            signed_results.read(tmp_path)


def test_a_signature_that_fails_leaves_what_was_there(tmp_path, ssh_key):
    signed_results.write(tmp_path, said(), ssh_key())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert set(before) == {"signed.json", "signed.json.sig"}
    with pytest.raises(UserError, match="needs its passphrase"):
        signed_results.write(tmp_path, signed_results.statement({}, "other"), ssh_key("locked", "a passphrase"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_the_folder_of_a_signature_is_around_its_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("results/paper", "other"):
        Path(folder).mkdir(parents=True)
        Path(folder, "signed.json").touch()
    names = ["results/a.nc", "results/paper/toy/b.nc"]
    assert signed_results.folders(names) == ["results/paper"]
    Path("signed.json").touch()
    assert signed_results.folders(names) == ["results/paper"]
    assert signed_results.folders(["other/x/y.nc"], tmp_path) == ["other"]
