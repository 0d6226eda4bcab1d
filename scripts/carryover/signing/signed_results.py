"""What is signed of results, and where it is kept: `signed.json` in their folder, and beside it its signature.

    carryover_signed    1, the version of this layout
    root                the root digest, as an audit prints it
    records             {path of a result: its record's digest}, over which the root digest is: with them it can be said
                        which result is another one since, and a crate of some of the results can be checked
    notes               {path of a result: digest of the notes of its record}, of those that have notes

It says nothing of time and place, so the same results give the same text.
"""

import json
from pathlib import Path, PurePath

from carryover.config.artifacts import ON_DEMAND
from carryover.errors import UserError
from carryover.provenance import job_record, store
from carryover.signing import ssh_signature

VERSION = 1
TEXT, SIGNATURE = "signed.json", "signed.json.sig"


def statement(records, root):
    """What `signed.json` says of {path: record}, whose root digest is `root`."""
    return {"carryover_signed": VERSION, "root": root, **_digests(records)}


def as_text(said):
    """The bytes of `signed.json`: one text for one statement."""
    return (json.dumps(said, indent=1, sort_keys=True) + "\n").encode("ascii")


def write(folder, said, key):
    """Sign a statement and keep it with its signature in the results folder. UserError where that cannot be done."""
    text = as_text(said)
    parts = {TEXT: text, SIGNATURE: ssh_signature.sign(text, key)}
    for name, content in parts.items():
        with store.atomic(Path(folder, name)) as temporary:
            temporary.write_bytes(content)


def files(folder):
    """The files of a signature in a folder, where they are."""
    return [file.as_posix() for name in (TEXT, SIGNATURE) if (file := Path(folder, name)).is_file()]


def read(folder):
    """The statement kept in a folder, whoever signed it. UserError where there is none that can be read."""
    return _parsed(_bytes(Path(folder, TEXT)), Path(folder, TEXT))


def checked(folder, allowed=None):
    """(statement, by whom) of a folder whose signature is good; UserError in all other cases.

    `allowed` is a file of allowed signers; without one anybody may have signed, and that is said.
    """
    file, signature = Path(folder, TEXT), Path(folder, SIGNATURE)
    text = _bytes(file)
    if not signature.is_file():
        raise UserError(f"{signature} is missing: {file} is not signed")
    if allowed:
        by = ssh_signature.signer(text, signature, allowed)
    else:
        by = f"the key {ssh_signature.key_of(text, signature)}; whose it is only a file of allowed signers can say"
    return _parsed(text, file), by


def together(statements):
    """{records, notes} of several statements, as of several folders in one crate."""
    every = list(statements)
    return {
        part: {path: digest for one in every for path, digest in one[part].items()} for part in ("records", "notes")
    }


def changes(signed, records):
    """What of {path: record} is not as it was signed, as one text each; results that are not there are none."""
    now = _digests(records)
    for path in sorted(records):
        if path not in signed["records"]:
            yield f"{path} is not among what was signed"
        elif now["records"][path] != signed["records"][path]:
            yield f"{path} is not the one that was signed"
        elif now["notes"].get(path) != signed["notes"].get(path):
            yield f"{path} has other notes than were signed"


def is_signed(path, record):
    """Whether a result is one of those that are signed: not where it is made on demand, of all the others."""
    return ON_DEMAND.get(PurePath(path).name) != record["rule"]


def folders(names, below="."):
    """The folders around results of these names that hold a statement, below a folder."""
    around = {parent for name in names for parent in PurePath(name).parents if parent.name}
    return sorted(folder.as_posix() for folder in around if Path(below, folder, TEXT).is_file())


def _digests(records):
    return {
        "records": {path: job_record.record_digest(record) for path, record in records.items()},
        "notes": {path: job_record.json_digest(one["notes"]) for path, one in records.items() if one.get("notes")},
    }


def _bytes(file):
    if not file.is_file():
        raise UserError(f"{file} is missing: nothing there was signed")
    try:
        return file.read_bytes()
    except OSError as error:
        raise store.unreadable(file, error) from None


def _parsed(text, file):
    try:
        said = json.loads(text)
        if as_text(said) == text and said["carryover_signed"] == VERSION:
            _ = dict(said["records"]), dict(said["notes"]), str(said["root"])
            return said
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise UserError(f"{file} is damaged, or of a layout other than {VERSION}: sign again")
