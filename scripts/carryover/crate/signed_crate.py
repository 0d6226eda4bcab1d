"""Whether a crate, unpacked, holds results that were signed, as they were signed, with what they were made of.

Nothing in a crate is believed but what the signature says, and nothing of it is run.
"""

import shutil
import tempfile
from pathlib import Path

from carryover.crate.contents import check_code, place
from carryover.errors import UserError
from carryover.provenance import record_index, store
from carryover.provenance.record_index import jobs
from carryover.signing import signed_results


def is_crate(folder):
    return Path(folder, record_index.CRATE).is_file()


def verified(folder, allowed=None):
    """Sentences on a crate whose signature holds, by a file of allowed signers; without one anybody's will do.

    Raises UserError for the first signature, record, result, input or code that is not as it was signed.
    """
    every = record_index.all_made(folder)
    made = {name: one for name, one in every.items() if signed_results.is_signed(name, one.record)}
    signed, by = _signatures(folder, made, allowed)
    if changed := next(signed_results.changes(signed, {name: one.record for name, one in made.items()}), None):
        raise UserError(changed)
    for name, one in made.items():
        if one.file != Path(folder, name):
            raise UserError(f"{one.file} is not where its record says, {name}")
        for path, facts in {**one.record["inputs"], name: one.facts}.items():
            inside = Path(folder, place(path, facts["sha256"]))
            if store.sha256(inside) != facts["sha256"]:
                raise UserError(f"{inside} is not what the records say that were signed")
    with tempfile.TemporaryDirectory(prefix="carryover-crate-") as scratch:
        # Without the memos of digests that may lie beside the code, which would be believed.
        scripts = Path(scratch, "scripts")
        shutil.copytree(Path(folder, "scripts"), scripts, ignore=shutil.ignore_patterns("__pycache__"))
        check_code(jobs(one.record for one in made.values()), scripts)
    yield f"{len(made)} of {len(signed['records'])} signed results are in {folder}, with their inputs and code."
    yield from by
    yield "All else in it, as pages, configuration, environments and its metadata, is not covered by the signature."


def _signatures(folder, made, allowed):
    """What was signed of a crate's results, and by whom, one sentence for each folder of them."""
    found = signed_results.folders(made, folder)
    if not found:
        raise UserError(f"{folder} has no signature: sign the results (audit --sign), then make the crate")
    signed = {results: signed_results.checked(Path(folder, results), allowed) for results in found}
    sentences = [f"{results} was signed by {by}; root digest {said['root']}." for results, (said, by) in signed.items()]
    return signed_results.together(said for said, _ in signed.values()), sentences
