"""`carryover audit --sign` and `--verify`: what is signed, what is refused, and what is no longer what was signed."""

import json
import os
import sys
from pathlib import Path

import pytest

from carryover.audit import notes
from carryover.commands import audit
from carryover.errors import UserError
from carryover.workflow import command_line
from workflow import file_changes
from workflow import mutations as m

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]

CURVE, TEXT, SIGNATURE = "results/theory/relu_penalty.nc", "results/signed.json", "results/signed.json.sig"


@pytest.fixture
def run(capsys, monkeypatch):
    """A function of a command line that gives exit code, what was printed, and the last sentence."""

    def command(*words):
        monkeypatch.setattr(sys, "argv", ["audit", *map(str, words)])
        code = 0
        try:
            command_line.run(audit.main)
        except SystemExit as end:
            code = end.code
        return (0, "") if not code else (1, str(code)), capsys.readouterr().out

    return command


def allowed(tmp_path, *keys):
    file = tmp_path / "allowed"
    file.write_text("".join(f"{key.name}@example.org {key.with_suffix('.pub').read_text()}" for key in keys))
    return file


def test_what_is_ok_is_signed_and_verified_until_it_changes(project, ssh_key, run, tmp_path):
    key = ssh_key("me")
    signers = allowed(tmp_path, key)
    unsigned = f"The signature does not hold: {TEXT} is missing: nothing there was signed.\n"
    assert run("--verify") == ((1, "1"), run()[1] + unsigned)
    (code, _), out = run("--sign", key)
    assert (code, out.splitlines()[-1]) == (0, f"Signed 14 records: {SIGNATURE}")
    kept = {name: Path(name).read_bytes() for name in (TEXT, SIGNATURE)}
    said = json.loads(kept[TEXT])
    assert said["root"] in out
    assert len(said["records"]) == 14
    # The signature is no result, and the same results give the same text.
    assert run()[1].splitlines()[0] == "All 14 artefacts are OK."
    run("--sign", key)
    assert Path(TEXT).read_bytes() == kept[TEXT]

    assert run("--verify")[0][0] == run("--verify", signers)[0][0] == 0
    assert run("--verify")[1].endswith("; whose it is only a file of allowed signers can say.\n")
    said = run("--verify", signers, "--json", "audit.json")[1].splitlines()[-1]
    assert said.startswith("These 14 records were signed by me@example.org, with the key SHA256:")
    assert json.loads(Path("audit.json").read_text())["signature"] == {"holds": True, "text": said}

    other = allowed(tmp_path, ssh_key("other"))
    (code, _), out = run("--verify", other)
    assert code == 1
    assert "which signed, is none of the signers in" in out
    for name, length, sentence in (
        (SIGNATURE, 99, f"The signature does not hold: {SIGNATURE} is damaged, or no signature of results "),
        (TEXT, 99, f"The signature does not hold: {SIGNATURE} is not the signature of the text beside it: "),
    ):
        Path(name).write_bytes(kept[name][:length])
        (code, _), out = run("--verify")
        assert (code, out.splitlines()[-1].startswith(sentence)) == (1, True)
        Path(name).write_bytes(kept[name])

    # A forger who makes every record fit passes an audit, but has another root.
    m.record(CURVE, lambda record: record["environment"].update(libc="glibc 1.0"))(project)
    (code, _), out = run("--verify")
    assert (code, "All 14 artefacts are OK." in out) == (1, True)
    assert f"These are not the results that were signed: {CURVE} is not the one that was signed; signed by the" in out


def test_what_is_not_ok_is_not_signed_and_what_stood_there_stays(project, ssh_key, run):
    key = ssh_key()
    run("--sign", key)
    kept = Path(TEXT).read_bytes(), Path(SIGNATURE).read_bytes()
    (code, sentence), _ = run("--sign", key, "--root", "0" * 64)
    assert (code, "nothing was signed: what was asked of this audit" in sentence) == (1, True)
    (code, sentence), _ = run("--sign", ssh_key("locked", "a passphrase"))
    assert (code, "needs its passphrase: add it to ssh-agent" in sentence) == (1, True)
    m.replace("envs/lock.txt", "\ntqdm==", "\ntqdm==9.9 # not ")(project)
    (code, sentence), _ = run("--sign", key, "--strict")
    assert (code, "nothing was signed: results/tiny/" in sentence) == (1, True)
    assert run("--sign", key)[0][0] == 0  # a warning does not keep from it
    m.on(CURVE, file_changes.one_value)(project)
    (code, sentence), _ = run("--sign", key)
    assert (code, sentence) == (1, "audit: nothing was signed: results/figures/relu_penalty.pdf and 3 more are not OK.")
    assert (Path(TEXT).read_bytes(), Path(SIGNATURE).read_bytes()) == kept


def test_results_and_notes_that_come_or_go_are_named(project, ssh_key, run):
    run("--sign", ssh_key())
    stray = project.folder / "results/stray.txt"
    for name in (f"{CURVE}.json", CURVE):
        Path(name).rename(f"{name}.away")
    assert f"results that were signed: {CURVE}, which was signed, has no record; signed by" in run("--verify")[1]
    for name in (f"{CURVE}.json", CURVE):
        Path(f"{name}.away").rename(name)
    assert run("--verify")[0][0] == 0
    stray.write_text("1\n")  # without a record it is for the audit to say
    (code, _), out = run("--verify")
    assert (code, "UNRECORDED  results/stray.txt" in out, "These 14 records were signed by" in out) == (1, True, True)
    stray.unlink()
    m.put("curves", "relu_penalty", "readout", value=1e-05)(project)
    notes.accept(project.findings(), "too small to see", [CURVE])
    assert f"not the results that were signed: {CURVE} has other notes than were signed;" in run("--verify")[1]


def test_what_is_made_on_demand_need_not_be_ok_to_sign(project, ssh_key, run):
    """A crate that holds the old signature is not the one that its record says when there is a new one."""
    Path("results/crate.zip").write_bytes(b"PK")
    (code, sentence), out = run("--sign", ssh_key())
    assert (code, "UNRECORDED  results/crate.zip" in out, out.splitlines()[-1]) == (
        1,
        True,
        f"Signed 14 records: {SIGNATURE}",
    )
    assert sentence == "1"


def test_a_mistake_is_one_sentence_before_anything_is_read(project, run, tmp_path, monkeypatch):
    monkeypatch.setattr(audit.project, "audit", None)
    os.mkfifo("fifo")
    with monkeypatch.context() as here:
        here.setattr(audit.signature.ssh_signature, "check_program", lambda: None)
        for words, sentence in (
            (("--sign", "nowhere"), "--sign nowhere: there is no such file; name that of an SSH key."),
            (("--sign", "fifo"), "--sign fifo: there is no such file; name that of an SSH key."),
            (("--verify", "results"), "--verify results: it must be a file of allowed signers; name a folder before "),
            (("crate.zip", "--verify"), "crate.zip is no folder: name that of the results, or leave it out; a crate "),
        ):
            (code, said), out = run(*words)
            assert (code, out) == (1, "")
            assert said.startswith(f"audit: {sentence}")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    for words in (("--verify",), ("--sign", "Makefile")):
        with pytest.raises(UserError, match=r"^signatures need the program ssh-keygen, which is not here: install "):
            audit.main(list(words))
