"""Sign the results that an audit found OK, and say whether a signature is that of the results as they are now."""

from dataclasses import dataclass
from pathlib import Path

from carryover.audit.verdicts import WARNING
from carryover.config.artifacts import ON_DEMAND
from carryover.errors import UserError, sentence
from carryover.signing import signed_results, ssh_signature


@dataclass(frozen=True)
class Signature:
    """Whether the results are those that were signed, by one who may, and what is to be said of it."""

    holds: bool
    text: str


def check_files(key, allowed):
    """UserError, before anything is read, where the key, the file of allowed signers or ssh-keygen is not there."""
    ssh_signature.check_program()
    if key and not Path(key).is_file():
        raise UserError(f"--sign {key}: there is no such file; name that of an SSH key")
    if allowed and not Path(allowed).is_file():
        raise UserError(f"--verify {allowed}: it must be a file of allowed signers; name a folder before --verify")


def sign(outcome, key):
    """Sign the results of an audit, `report.Outcome`, and say so.

    Raises UserError, and keeps what stood there, where anything that is signed is not OK, or something that was asked
    of the audit failed. What is made on demand is not signed: a crate has this signature in it.
    """
    chain, root = outcome.audit.chain, outcome.audit.root
    on_demand = {f"{chain.made.results}/{name}" for name in ON_DEMAND}
    accepted = {"OK"} if outcome.strict else {"OK", WARNING}
    wrong = sorted(one.path for one in outcome.findings if one.verdict not in accepted and one.path not in on_demand)
    if wrong:
        more = f" and {len(wrong) - 1} more are" if len(wrong) > 1 else " is"
        raise UserError(f"nothing was signed: {wrong[0]}{more} not OK")
    if outcome.has_asked_root is False or not all(one.kept for one in outcome.replays):
        raise UserError("nothing was signed: what was asked of this audit, a root digest or a replay, is not so")
    if not chain.lasting:
        raise UserError(f"nothing was signed: there are no results in {chain.made.results}")
    signed_results.write(chain.made.results, signed_results.statement(chain.lasting, root), key)
    return f"Signed {len(chain.lasting)} records: {chain.made.results}/{signed_results.SIGNATURE}"


def verified(audit, allowed=None):
    """The `Signature` of the results of an audit, by a file of allowed signers; without one anybody's will do."""
    folder, records = audit.chain.made.results, audit.chain.lasting
    try:
        signed, by = signed_results.checked(folder, allowed)
    except UserError as error:
        return Signature(False, f"The signature does not hold: {sentence(error)}")
    found = list(signed_results.changes(signed, records))
    found += [f"{path}, which was signed, has no record" for path in sorted(signed["records"].keys() - records.keys())]
    if not found and signed["root"] != audit.root:
        found = [f"the root digest that was signed is another, {signed['root']}"]
    if found:
        more = f", and {len(found) - 1} more like it" if len(found) > 1 else ""
        return Signature(False, f"These are not the results that were signed: {found[0]}{more}; signed by {by}.")
    return Signature(True, f"These {len(records)} records were signed by {by}.")
