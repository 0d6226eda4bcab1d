"""Compare every result with its record, the configuration, the code and the software; exit code 1 unless all are OK."""

import argparse
import random
import re
import sys
from pathlib import Path

from carryover.audit import project, replay, report
from carryover.errors import UserError
from carryover.provenance import import_check, writing


def digest(text):
    """A SHA-256 as the command line has it."""
    if not re.fullmatch("[0-9a-f]{64}", text.lower()):
        raise argparse.ArgumentTypeError(f"it must be a root digest, which has 64 hexadecimal digits, not {text!r}")
    return text.lower()


def parsed(argv, prog):
    made = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    made.add_argument("results", nargs="?", metavar="FOLDER", help="default: the one that the configuration names")
    project.add_configuration(made)
    made.add_argument("--strict", action="store_true", help="STALE-ENV, a warning, fails as well")
    made.add_argument("--bytes", action="store_true", help="other bytes of the same content fail as well")
    made.add_argument("--packages", action="store_true", help="compare the files of the packages that jobs loaded, too")
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


def replayed(chain, arguments, root):
    """The replays that were asked for, each printed as soon as it is done."""
    seed = random.randrange(2**32) if arguments.seed is None else arguments.seed
    print(f"Replay, --seed {seed} (in brackets what is promised of the job elsewhere):")
    for done in replay.replay(chain, root, arguments.replay, seed):
        print(f"{done.verdict:<7}  {done.path}  [{done.promise}]  {done.text}", flush=True)
        for line in done.place:
            print(f"         not as recorded, so equal bits are not promised: {line}")
        yield done


def project_here():
    """The working folder, which must be that of a project whose library is the one that runs."""
    root = Path.cwd()
    if not (root / "config/schema.yaml").is_file() or not (root / "scripts/carryover").is_dir():
        raise UserError(f"there is no project in {root}: run this in the folder of its Snakefile.")
    import_check.check_library(root / "scripts")
    return root


def main(argv, prog="carryover audit", root=None):
    """`root` is the folder of the project; by default the working folder."""
    arguments = parsed(argv, prog)
    root = root or project_here()
    if arguments.results and not Path(arguments.results).is_dir():
        raise UserError(f"{arguments.results} is no folder: name that of the results, or leave it out.")
    config = project.configuration(arguments.configfile, arguments.results)
    audit = project.audit(config, root, arguments.threads, arguments.packages)
    print(report.text(audit.findings.values()), end="")
    replays = list(replayed(audit.chain, arguments, root)) if arguments.replay else []
    outcome = report.Outcome(audit, arguments.strict, arguments.bytes, arguments.root, replays)
    for file, form in ((arguments.json, report.as_json), (arguments.html, report.as_html)):
        if file:
            with writing.atomic(file) as temporary:
                # A name that is no UTF-8 stands there with escapes.
                temporary.write_text(form(outcome), encoding="utf-8", errors="backslashreplace")
    print("\n".join((report.summary(outcome.findings), *report.remarks(outcome))))
    if not outcome.passed:
        sys.exit(1)
