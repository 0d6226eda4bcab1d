"""SSH signatures of a text. OpenSSH's ssh-keygen makes and checks them: there is no cryptography of ours."""

import re
import shutil
import subprocess

from carryover.errors import UserError

NAMESPACE = "carryover-results"
"""What a signature is for: one that a key made for anything else, as for a commit, is not taken for one of results."""


def check_program():
    """UserError where there is no ssh-keygen."""
    if shutil.which("ssh-keygen") is None:
        raise UserError("signatures need the program ssh-keygen, which is not here: install OpenSSH's client")


def sign(text, key):
    """The signature of bytes by a private key in a file, or by that of a public one in a file, which ssh-agent holds.

    A passphrase is asked for where there is a terminal. Raises UserError where ssh-keygen does not sign.
    """
    done = _run(text, "sign", "-f", key, "-n", NAMESPACE)
    if done.returncode == 0:
        return done.stdout
    if "incorrect passphrase" in _said(done):
        raise UserError(f"{key} needs its passphrase: add it to ssh-agent with ssh-add, or sign at a terminal")
    if "are too open" in _said(done):
        raise UserError(f"{key} can be read by others, so ssh-keygen does not use it: chmod 600 {key}")
    raise UserError(f"{key} is no key that ssh-keygen can sign with ({_why(done)})")


def key_of(text, signature):
    """The fingerprint of the key that made the file `signature` for these bytes; whose it is, nobody has said.

    Raises UserError for a damaged file, and for the signature of another text.
    """
    done = _run(text, "check-novalidate", "-n", NAMESPACE, "-s", signature)
    if done.returncode == 0:
        return re.search(rb"key (\S+)\s*$", done.stdout)[1].decode()
    if "incorrect signature" in _said(done):
        raise UserError(f"{signature} is not the signature of the text beside it: one of them was changed")
    raise UserError(f"{signature} is damaged, or no signature of results ({_why(done)})")


def signer(text, signature, allowed):
    """Who signed these bytes, by the file of allowed signers `allowed` (see `man ssh-keygen`).

    Raises UserError where the key is not among them, and where the file does not let it sign results today.
    """
    key = key_of(text, signature)
    done = _run(b"", "find-principals", "-s", signature, "-f", allowed)
    found = done.stdout.decode(errors="replace").splitlines()
    if done.returncode or not found:
        raise UserError(f"the key {key}, which signed, is none of the signers in {allowed} ({_why(done)})")
    done = _run(text, "verify", "-f", allowed, "-I", found[0], "-n", NAMESPACE, "-s", signature)
    if done.returncode:
        raise UserError(f"{found[0]}, whose key {key} signed, may not sign results by {allowed} ({_why(done)})")
    return f"{found[0]}, with the key {key}"


def _run(text, action, *words):
    check_program()
    return subprocess.run(["ssh-keygen", "-Y", action, *map(str, words)], input=text, capture_output=True)


def _said(done):
    return done.stderr.decode(errors="replace")


def _why(done):
    """The first of ssh-keygen's own words that say something."""
    lines = [line.strip(" .") for line in _said(done).splitlines() if not line.startswith("Signing data on")]
    return f"ssh-keygen: {lines[0] if lines else 'no reason given'}"
