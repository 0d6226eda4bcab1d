"""Hold every result against its record, the configuration, the code and the software; exit code 1 unless all are OK."""

import argparse
import random
import re
import sys
from pathlib import Path

from carryover.audit import project, replay, report
from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow import command_line

ROOT = Path(__file__).resolve().parents[1]


def digest(text):
    """A SHA-256 as the command line has it."""
    if not re.fullmatch("[0-9a-f]{64}", text.lower()):
        raise argparse.ArgumentTypeError(f"it must be a root digest, which has 64 hexadecimal digits, not {text!r}")
    return text.lower()


def parsed(argv):
    made = argparse.ArgumentParser(prog="audit.py", description=__doc__, allow_abbrev=False)
    made.add_argument("results", nargs="?", metavar="FOLDER", help="default: the one that the configuration names")
    project.add_configuration(made)
    made.add_argument("--strict", action="store_true", help="STALE-ENV, a warning, fails as well")
    made.add_argument("--root", type=digest, metavar="DIGEST", help="the root digest that the records must have")
    made.add_argument("--replay", type=int, metavar="K", help="run K random jobs again, elsewhere, and compare")
    made.add_argument("--seed", type=int, help="draws the jobs to replay; default: another one each time, and said")
    made.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    made.add_argument("--html", type=Path, metavar="FILE", help="write everything as a page")
    made.add_argument("--threads", type=int, help="that read and hash; default: one per core")
    arguments = made.parse_args(argv)
    for name in ("replay", "threads"):
        if getattr(arguments, name) is not None and getattr(arguments, name) < 1:
            made.error(f"argument --{name}: it must be a whole number ≥ 1")
    return arguments


def replayed(chain, arguments):
    """The replays that were asked for, each printed as soon as it is done."""
    seed = random.randrange(2**32) if arguments.seed is None else arguments.seed
    print(f"Replay, --seed {seed}:")
    for done in replay.replay(chain, ROOT, arguments.replay, seed):
        print(f"{done.verdict:<7}  {done.path}  {done.text}", flush=True)
        for line in done.place:
            print(f"         not as recorded, so equal bits are not promised: {line}")
        yield done


def main(argv):
    arguments = parsed(argv)
    if arguments.results and not Path(arguments.results).is_dir():
        raise UserError(f"{arguments.results} is no folder: name that of the results, or leave it out.")
    audit = project.audit(project.configuration(arguments.configfile, arguments.results), ROOT, arguments.threads)
    print(report.text(audit.findings.values()), end="")
    replays = list(replayed(audit.chain, arguments)) if arguments.replay else []
    outcome = report.Outcome(audit, arguments.strict, arguments.root, replays)
    for file, form in ((arguments.json, report.as_json), (arguments.html, report.as_html)):
        if file:
            with store.atomic(file) as temporary:
                # A name that is no UTF-8 stands there with escapes.
                temporary.write_text(form(outcome), encoding="utf-8", errors="backslashreplace")
    print("\n".join((report.summary(outcome.findings), *report.remarks(outcome))))
    if not outcome.passed:
        sys.exit(1)


if __name__ == "__main__":
    command_line.run(main)
