"""Compare every result with its record, the configuration, the code and the software; exit code 1 unless all are OK."""

import argparse
import json
import random
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from carryover.audit import project, replay
from carryover.audit.verdicts import VERDICTS
from carryover.errors import UserError
from carryover.provenance import writing
from carryover.provenance.job_record import SCRIPTS
from carryover.templates.rendering import rendered


def parsed(argv, prog):
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    parser.add_argument("results", nargs="?", metavar="FOLDER", help="default: the one that the configuration names")
    project.add_configuration(parser)
    parser.add_argument("--strict", action="store_true", help="results of other software, a warning, fail as well")
    parser.add_argument("--replay", type=int, default=0, metavar="K", help="run K random jobs again and compare")
    parser.add_argument("--seed", type=int, help="draws the jobs to replay; default: another one each time, and said")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write everything as a page")
    parser.add_argument("--threads", type=int, help="that read and hash; default: one per core")
    arguments = parser.parse_args(argv)
    if arguments.replay < 0 or (arguments.threads is not None and arguments.threads < 1):
        parser.error("--replay and --threads must be whole numbers ≥ 1")
    if arguments.results and not Path(arguments.results).is_dir():
        raise UserError(f"{arguments.results} is no folder: name that of the results, or leave it out.")
    return arguments


def project_here():
    """The working folder, which must be that of a project whose library is the one that runs."""
    scripts = Path("scripts").resolve()
    if not (scripts / "carryover").is_dir() or not Path("Snakefile").is_file():
        raise UserError(f"there is no project in {Path.cwd()}: run this in the folder of its Snakefile.")
    if not scripts.samefile(SCRIPTS):
        raise UserError(f"this is the library in {SCRIPTS}, not the project's own: run python scripts/audit.py.")
    return scripts.parent


def table(findings):
    """Lines on all results that are not OK, and on archived ones; causes and remarks in one line."""
    shown = [finding for finding in findings if finding.verdict != "OK" or finding.remarks]
    widths = [max((len(getattr(f, column)) for f in shown), default=0) for column in ("verdict", "path")]
    for f in shown:
        yield f"{f.verdict:<{widths[0]}}  {f.path:<{widths[1]}}  {causes(f)}".rstrip()


def causes(finding):
    """Cause and remarks of a finding, in one line."""
    return "; ".join(part for part in (finding.cause, *finding.remarks) if part)


def summary(findings):
    """One sentence: how many results have which verdict."""
    counts = Counter(finding.verdict for finding in findings)
    archived = sum(bool(finding.remarks) for finding in findings)
    among = f", {archived} of them archived" if archived else ""
    if counts.keys() <= {"OK"}:
        return f"All {counts['OK']} results are OK{among}." if counts else "There is nothing to audit."
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    return f"Of {len(findings)} results: {listed}{among}."


def replayed(chain, count, seed, root):
    """`count` replays, each printed as soon as it is done."""
    print(f"Replay, --seed {seed} (in brackets what is promised of the job elsewhere):")
    for done in replay.replay(chain, root, count, seed):
        print(f"{done.verdict:<7}  {done.path}  [{done.promise}]  {done.text}", flush=True)
        for line in done.place:
            print(f"         not as recorded, so equal bits are not promised: {line}")
        yield done


def write(path, text):
    with writing.atomic(path) as temporary:  # names of files may be no UTF-8
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


def main(argv, prog="carryover audit", root=None):
    """`root` is the folder of the project; by default the working folder."""
    arguments = parsed(argv, prog)
    root = root or project_here()
    config = project.configuration(arguments.configfile, arguments.results)
    audit = project.audit(config, root, arguments.threads)
    findings = sorted(audit.findings.values(), key=lambda finding: (VERDICTS.index(finding.verdict), finding.path))
    for line in table(findings):
        print(line)
    seed = random.randrange(2**32) if arguments.seed is None else arguments.seed
    replays = list(replayed(audit.chain, arguments.replay, seed, root)) if arguments.replay else []
    passed = all(one.verdict == "OK" or (one.warning and not arguments.strict) for one in findings)
    passed = passed and all(one.kept for one in replays)
    sentences = [summary(findings)]
    if audit.chain.others:
        sentences.append(f"Passed over, as another configuration's: {', '.join(audit.chain.others)}.")
    sentences.append(f"Root digest of {len(audit.chain.lasting)} records: {audit.chain.root}")
    if arguments.json:
        parts = {
            "passed": passed,
            "root": audit.chain.root,
            "verdicts": Counter(finding.verdict for finding in findings),
            "results": [asdict(finding) for finding in findings],
            "passed_over": audit.chain.others,
            "replays": [asdict(replay) for replay in replays],
        }
        write(arguments.json, json.dumps(parts, indent=1, ensure_ascii=False) + "\n")
    if arguments.html:
        rows = [(one.verdict, one.path, one.rule, causes(one)) for one in findings]
        again = [(one.verdict, one.path, one.promise, "; ".join((one.text, *one.place))) for one in replays]
        write(arguments.html, rendered("audit.html.j2", summary=sentences, findings=rows, replays=again, note=""))
    print("\n".join(sentences))
    if not passed:
        sys.exit(1)
