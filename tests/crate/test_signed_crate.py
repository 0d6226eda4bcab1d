"""A crate holds the signature of its results, and tells by it of anything that was changed."""

import json
import shutil
from pathlib import Path

import pytest

import crate
from carryover.commands import audit
from carryover.errors import UserError
from carryover.provenance import code_digest, job_record, record_index
from carryover.signing import signed_results
from toy import small_run
from toy.small_run import FIGURES, PRETRAINED, RISK, SHARD
from workflow import file_changes

CODE = "scripts/carryover/provenance/store.py"


def sign(key):
    """As an audit does of results that are OK."""
    records = {name: one.record for name, one in record_index.all_made("results").items()}
    signed_results.write("results", signed_results.statement(records, "f00d"), key)


@pytest.fixture
def here(exported, tmp_path, monkeypatch):
    """A copy of the small project, with data beside it."""
    shutil.copytree(exported.parent, tmp_path / "moved", ignore=shutil.ignore_patterns("crate"))
    monkeypatch.chdir(tmp_path / "moved/project")


@pytest.fixture
def signed(here, ssh_key, tmp_path):
    """The file of allowed signers by which the results are signed, which stand in the folder signed/ as a crate."""
    key = ssh_key()
    sign(key)
    crate.main(["results", "--output", "signed"])
    file = tmp_path / "allowed"
    file.write_text(f"me@example.org {key.with_suffix('.pub').read_text()}")
    return str(file)


def refused(words, sentence):
    with pytest.raises(UserError, match=sentence):
        audit.main(list(words))


def test_a_crate_has_the_signature_and_it_holds(signed, capsys):
    for name in ("signed.json", "signed.json.sig"):
        assert Path("signed/results", name).read_bytes() == Path("results", name).read_bytes()
    metadata = json.loads(Path("signed/ro-crate-metadata.json").read_text())["@graph"]
    assert {"results/signed.json", "results/signed.json.sig"} <= {entity["@id"] for entity in metadata}
    shutil.rmtree("results")  # nothing of the project that made it is needed
    audit.main(["signed", "--verify", signed])
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "5 of 5 signed results are in signed, with their inputs and code."
    assert said[1].startswith("results was signed by me@example.org, with the key SHA256:")
    assert said[1].endswith("; root digest f00d.")
    audit.main(["signed", "--verify"])
    assert "; whose it is only a file of allowed signers can say; root digest f00d." in capsys.readouterr().out
    Path(signed).write_text("")
    refused(["signed", "--verify", signed], "which signed, is none of the signers in")


def test_a_part_of_the_results_has_the_signature_of_all(signed, capsys):
    crate.main([SHARD, "--output", "part"])
    audit.main(["part", "--verify", signed])
    assert capsys.readouterr().out.startswith("2 of 5 signed results are in part, ")


def test_a_zip_has_it_too_and_its_record_says_so(signed):
    crate.main(["results", "--output", "results/crate.zip"])
    record = job_record.read("results/crate.zip.json")
    assert {"results/signed.json", "results/signed.json.sig"} <= record["inputs"].keys()
    shutil.unpack_archive("results/crate.zip", "unpacked")
    audit.main(["unpacked", "--verify", signed])


def forged(file):
    """The file changed, and its record with it."""
    file_changes.one_value(Path(file))
    path = job_record.record_path(file)
    record = job_record.read(path)
    (facts,) = record["outputs"].values()
    facts.update(job_record._fingerprint(Path(file)))
    path.write_text(job_record.as_text(record | {"checksum": job_record.checksum(record)}))


def moved_record():
    """A record that is not the one that was signed, and beside the crate's folders the one that was."""
    shutil.copy(f"signed/{RISK}.json", f"signed/{Path(RISK).name}.json")
    edited = job_record.read(f"signed/{RISK}.json") | {"seeds": [7]}
    Path(f"signed/{RISK}.json").write_text(job_record.as_text(edited))


def other_code():
    with Path("signed", CODE).open("a") as file:
        file.write("\nNEW = 1\n")


def memo():
    """Other code, and a memo beside it which says that it means what it meant."""
    code_digest.closure_files("signed/scripts", "carryover.provenance.store")
    folder = Path("signed", CODE).parent / "__pycache__"
    before = (folder / "store.meaning").read_text().split()
    other_code()
    code_digest.closure_files("signed/scripts", "carryover.provenance.store")
    key = (folder / "store.meaning").read_text().split()[0]
    (folder / "store.meaning").write_text(" ".join([key, *before[1:]]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda: file_changes.one_value(Path("signed", RISK)), f"^signed/{RISK} is not what the records say that were"),
        (lambda: forged(f"signed/{RISK}"), f"^{RISK} is not the one that was signed$"),
        (lambda: Path("signed", FIGURES[1]).write_text("<svg/>"), f"^signed/{FIGURES[1]} is not what the records say"),
        (lambda: Path("signed", PRETRAINED).unlink(), f"^signed/{PRETRAINED} is missing"),
        (lambda: next(Path("signed/external").rglob("*.idx")).write_text("x"), "labels.idx is not what the records "),
        (lambda: Path("signed/results/signed.json").unlink(), "^signed has no signature: sign the results"),
        (lambda: Path("signed/results/signed.json.sig").unlink(), "signed.json.sig is missing: .* is not signed$"),
        (lambda: Path("signed/results/signed.json").write_text("{}"), "is not the signature of the text beside it"),
        (other_code, f"^{CODE} is not the code that made "),
        (memo, f"^{CODE} is not the code that made "),
        (moved_record, f"^signed/{Path(RISK).name} is not where its record says, {RISK}$"),
    ],
)
def test_what_was_changed_in_a_crate_is_named(signed, change, sentence):
    change()
    with pytest.raises(UserError, match=sentence):
        audit.main(["signed", "--verify", signed])


def test_no_crate_is_made_of_results_that_changed_since_they_were_signed(signed, ssh_key):
    with small_run.job("collect", [SHARD], [RISK], seeds=[0, 1]) as running:
        running.save(small_run.dataset(2.0))
    again = r"^results/\S+ is not the one that was signed: sign again \(audit --sign\), or delete results/signed.json$"
    with pytest.raises(UserError, match=again):
        crate.main([RISK, "--output", "later"])
    assert not Path("later").exists()
    sign(ssh_key("another"))
    crate.main([RISK, "--output", "later"])
    refused(["later", "--verify", signed], "which signed, is none of the signers in")


def test_a_crate_is_verified_and_nothing_else(here):
    crate.main([RISK, "--output", "plain"])
    refused(["plain"], "^plain is a crate: --verify checks its signature$")
    refused(["plain", "--strict"], "^plain is a crate: --verify checks its signature, and --strict is for results in ")
