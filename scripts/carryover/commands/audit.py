"""Compare every result with its record, the configuration, the code and the software; exit code 1 unless all are OK."""

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

from carryover.audit import findings
from carryover.audit.findings import VERDICTS
from carryover.audit.replay import replay
from carryover.provenance import store
from carryover.templates.rendering import render
from carryover.workflow import startup


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover audit", description=__doc__, allow_abbrev=False)
    startup.add_configuration(parser)
    parser.add_argument("--replay", type=int, default=0, metavar="K", help="run K random jobs again and compare")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="draws the jobs; default: random")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write everything as a page")
    arguments = parser.parse_args(argv)
    if arguments.replay < 0:
        parser.error("--replay must be a whole number from 0")

    sweep = startup.sweep_of_files(arguments.configfile)
    audit = findings.audit(sweep)
    ordered = sorted(audit.findings.values(), key=lambda finding: (VERDICTS.index(finding.verdict), finding.path))
    width = max((len(finding.path) for finding in ordered if finding.cause), default=0)
    for finding in ordered:
        if finding.cause:
            print(f"{finding.verdict:10}  {finding.path:{width}}  {finding.cause}")

    replays = []
    if arguments.replay:
        print(f"Replay, --seed {arguments.seed} (in brackets what is promised of the job elsewhere):")
    for finding in replay(audit, sweep.root, arguments.replay, arguments.seed):
        print(f"{finding.verdict:10}  {finding.path}  {finding.cause}", flush=True)
        replays.append(finding)

    sentences = list(summary(audit))
    if arguments.html:
        rows, replay_rows = ([finding[:4] for finding in several] for several in (ordered, replays))
        text = render("audit.html.j2", summary=sentences, findings=rows, replays=replay_rows, note="")
        with store.atomic(arguments.html) as (temporary,):  # file names may not be UTF-8
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    print("\n".join(sentences))
    if any(finding.fails for finding in (*ordered, *replays)):
        sys.exit(1)


def summary(audit):
    """Sentences: how many results have which verdict, and the root digest."""
    counts = Counter(finding.verdict for finding in audit.findings.values())
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    archived = sum(request.record is not None for request in audit.requests.values())
    among = f", {archived} of them archived" if archived else ""
    all_ok = counts.keys() <= {"OK"}
    yield f"All {counts['OK']} results are OK{among}." if all_ok else f"Of {counts.total()} results: {listed}{among}."
    if audit.others:
        yield f"Passed over, as another configuration's: {', '.join(audit.others)}."
    yield f"Root digest of {len(audit.lasting)} records: {audit.root}"
