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
from carryover.templates.rendering import rendered
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
    found = sorted(audit.findings.values(), key=lambda finding: (VERDICTS.index(finding.verdict), finding.path))
    width = max((len(one.path) for one in found if one.cause), default=0)
    for one in found:
        if one.cause:
            print(f"{one.verdict:10}  {one.path:{width}}  {one.cause}")

    replays = []
    if arguments.replay:
        print(f"Replay, --seed {arguments.seed} (in brackets what is promised of the job elsewhere):")
    for one in replay(audit, sweep.root, arguments.replay, arguments.seed):
        print(f"{one.verdict:10}  {one.path}  {one.cause}", flush=True)
        replays.append(one)

    sentences = list(summary(audit))
    if arguments.html:
        rows, again = ([one[:4] for one in several] for several in (found, replays))
        text = rendered("audit.html.j2", summary=sentences, findings=rows, replays=again, note="")
        with store.atomic(arguments.html) as (temporary,):  # names of files may be no UTF-8
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    print("\n".join(sentences))
    if any(one.fails for one in (*found, *replays)):
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
