"""Compare every result with its record, the configuration, the code and the software; exit code 1 unless all are OK."""

import argparse
import random
import sys
from pathlib import Path

from carryover.audit import project, replay, report
from carryover.errors import UserError
from carryover.provenance import writing
from carryover.provenance.job_record import SCRIPTS


def parsed(argv, prog):
    made = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    made.add_argument("results", nargs="?", metavar="FOLDER", help="default: the one that the configuration names")
    project.add_configuration(made)
    made.add_argument("--strict", action="store_true", help="results of other software, a warning, fail as well")
    made.add_argument("--replay", type=int, default=0, metavar="K", help="run K random jobs again and compare")
    made.add_argument("--seed", type=int, help="draws the jobs to replay; default: another one each time, and said")
    made.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    made.add_argument("--html", type=Path, metavar="FILE", help="write everything as a page")
    made.add_argument("--threads", type=int, help="that read and hash; default: one per core")
    arguments = made.parse_args(argv)
    if arguments.replay < 0 or (arguments.threads is not None and arguments.threads < 1):
        made.error("--replay and --threads must be whole numbers ≥ 1")
    return arguments


def replayed(chain, count, seed, root):
    """`count` replays, each printed as soon as it is done."""
    print(f"Replay, --seed {seed} (in brackets what is promised of the job elsewhere):")
    for done in replay.replay(chain, root, count, seed):
        print(f"{done.verdict:<7}  {done.path}  [{done.promise}]  {done.text}", flush=True)
        for line in done.place:
            print(f"         not as recorded, so equal bits are not promised: {line}")
        yield done


def project_here():
    """The working folder, which must be that of a project whose library is the one that runs."""
    scripts = Path("scripts").resolve()
    if not (scripts / "carryover").is_dir() or not Path("Snakefile").is_file():
        raise UserError(f"there is no project in {Path.cwd()}: run this in the folder of its Snakefile.")
    if not scripts.samefile(SCRIPTS):
        raise UserError(f"this is the library in {SCRIPTS}, not the project's own: run python scripts/audit.py.")
    return scripts.parent


def main(argv, prog="carryover audit", root=None):
    """`root` is the folder of the project; by default the working folder."""
    arguments = parsed(argv, prog)
    root = root or project_here()
    if arguments.results and not Path(arguments.results).is_dir():
        raise UserError(f"{arguments.results} is no folder: name that of the results, or leave it out.")
    config = project.configuration(arguments.configfile, arguments.results)
    audit = project.audit(config, root, arguments.threads)
    findings = audit.findings.values()
    print(report.text(findings), end="")
    seed = random.randrange(2**32) if arguments.seed is None else arguments.seed
    replays = list(replayed(audit.chain, arguments.replay, seed, root)) if arguments.replay else []
    texts = {arguments.json: report.as_json(audit, replays, arguments.strict)}
    texts |= {arguments.html: report.as_html(audit, replays)} if arguments.html else {}
    for file, text in texts.items():
        if file:
            with writing.atomic(file) as temporary:
                temporary.write_text(text, encoding="utf-8", errors="backslashreplace")  # names may be no UTF-8
    print("\n".join((report.summary(findings), *report.remarks(audit))))
    if not report.passed(findings, arguments.strict) or not all(one.kept for one in replays):
        sys.exit(1)
