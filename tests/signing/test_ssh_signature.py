"""Signatures by ssh-keygen: good ones, all that they are not taken for, and one sentence for each failure."""

import pytest

from carryover.errors import UserError
from carryover.signing import ssh_signature

TEXT = b"what is signed\n"


@pytest.fixture
def signed(ssh_key, tmp_path):
    """(key, file of the signature of `TEXT` by it)."""
    key, file = ssh_key(), tmp_path / "text.sig"
    file.write_bytes(ssh_signature.sign(TEXT, key))
    return key, file


def allowed(tmp_path, key, before="me@example.org"):
    """A file of allowed signers, in which this stands before the key."""
    file = tmp_path / "allowed"
    file.write_text(f"# referees\n{before} {key.with_suffix('.pub').read_text()}")
    return file


def test_a_good_signature_tells_key_and_signer(signed, tmp_path):
    key, file = signed
    fingerprint = ssh_signature.key_of(TEXT, file)
    assert fingerprint.startswith("SHA256:")
    for before in ("me@example.org", "me@example.org,you@example.org", 'me@example.org namespaces="carryover-*"'):
        assert ssh_signature.signer(TEXT, file, allowed(tmp_path, key, before)) == (
            f"me@example.org, with the key {fingerprint}"
        )


def test_another_text_and_a_changed_signature_are_not_what_was_signed(signed):
    _, file = signed
    sentence = f"^{file} is not the signature of the text beside it: one of them was changed$"
    with pytest.raises(UserError, match=sentence):
        ssh_signature.key_of(TEXT + b"\n", file)
    lines = file.read_text().splitlines()
    lines[3] = lines[3][:-1] + ("A" if lines[3][-1] != "A" else "B")
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=sentence):
        ssh_signature.key_of(TEXT, file)


@pytest.mark.parametrize("length", [0, 20, 100, -40])
def test_a_truncated_signature_is_damaged(signed, length):
    _, file = signed
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(UserError, match=rf"^{file} is damaged, or no signature of results \(ssh-keygen: .*missing "):
        ssh_signature.key_of(TEXT, file)


def test_a_signature_that_was_made_for_something_else_is_none_of_results(ssh_key, tmp_path, monkeypatch):
    file = tmp_path / "text.sig"
    with monkeypatch.context() as other:
        other.setattr(ssh_signature, "NAMESPACE", "git")
        file.write_bytes(ssh_signature.sign(TEXT, ssh_key()))
    with pytest.raises(UserError, match=r"no signature of results \(ssh-keygen: .*namespace does not match\)$"):
        ssh_signature.key_of(TEXT, file)


def test_who_may_not_sign_is_named(signed, ssh_key, tmp_path):
    key, file = signed
    with pytest.raises(UserError, match=r"^the key SHA256:\S+, which signed, is none of the signers in .*/allowed "):
        ssh_signature.signer(TEXT, file, allowed(tmp_path, ssh_key("other")))
    with pytest.raises(UserError, match=r"none of the signers in .* \(ssh-keygen: .*: key has expired: "):
        ssh_signature.signer(TEXT, file, allowed(tmp_path, key, 'me@example.org valid-before="20200101"'))
    with pytest.raises(UserError, match=r"^me@example.org, whose key SHA256:\S+ signed, may not sign results by "):
        ssh_signature.signer(TEXT, file, allowed(tmp_path, key, 'me@example.org namespaces="git"'))
    for text in ("", "nonsense\n"):
        (tmp_path / "allowed").write_text(text)
        with pytest.raises(UserError, match="none of the signers in"):
            ssh_signature.signer(TEXT, file, tmp_path / "allowed")


def test_a_key_that_cannot_sign_is_named(ssh_key, tmp_path):
    locked, public = ssh_key("locked", "a passphrase"), ssh_key("away")
    public.unlink()
    (tmp_path / "no.key").write_text("no key\n")
    (tmp_path / "no.key").chmod(0o600)
    for key, sentence in (
        (locked, f"^{locked} needs its passphrase: add it to ssh-agent with ssh-add, or sign at a terminal$"),
        (public.with_suffix(".pub"), r"away.pub is no key that ssh-keygen can sign with \(ssh-keygen: No private key "),
        (tmp_path / "no.key", r"no.key is no key that ssh-keygen can sign with \(ssh-keygen: "),
        (tmp_path / "absent", r"absent is no key that ssh-keygen can sign with \(ssh-keygen: .*No such file"),
    ):
        with pytest.raises(UserError, match=sentence):
            ssh_signature.sign(TEXT, key)
    open_to_all = ssh_key("open")
    open_to_all.chmod(0o644)
    with pytest.raises(UserError, match=f"^{open_to_all} can be read by others, so ssh-keygen does not use it: chmod "):
        ssh_signature.sign(TEXT, open_to_all)


def test_without_the_program_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"^signatures need the program ssh-keygen, which is not here: install OpenSSH"):
        ssh_signature.sign(TEXT, tmp_path / "key")
