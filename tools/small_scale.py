"""`make` from nothing, and the processor's time that it takes: `python tools/small_scale.py [--record]`, in a clone.

It fails where `make` fails, and where that takes more than twice the time of record, in small_scale.json: on another
machine times are other ones, and twice is more than that. With --record the time is put on record; then
`python tools/findings.py --write` puts it on the pages. Either way the jobs are listed by rule and by experiment.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "scripts"))

from carryover.provenance import records  # noqa: E402

RECORD = Path(__file__).with_suffix(".json")
MOST = 2.0  # times the time of record
WORKING = ("pretrain", "finetune", "measure", "collect")  # collected shards are measured


def spent():
    """(Seconds by the clock, of the processor) of `make` and all that it runs."""
    start = time.perf_counter()
    subprocess.run(["make", f"CORES={os.environ.get('CORES', 2)}"], cwd=ROOT, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


def sums(jobs, kind):
    """{kind: [jobs, processor's time, of this work]} of records; work is training and measuring, after the start."""
    found = defaultdict(lambda: [0, 0.0, 0.0])
    for record in jobs:
        took = record["volatile"]
        work = took["processor_time"] - took["starting"] if record["rule"] in WORKING else 0.0
        for place, number in enumerate((1, took["processor_time"], work)):
            found[kind(record)][place] += number
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))


def table(head, found, whole):
    """The sums in Markdown, with what no job has taken."""
    counts = [sum(column) for column in zip(*found.values(), strict=True)]
    rows = [*found.items(), ("Snakemake, shells and the fork server", [0, whole - counts[1], 0.0]),
            ("all", [counts[0], whole, counts[2]])]  # fmt: skip
    lines = [f"| {head} | jobs | processor [s] | of these overhead [s] | share |", "|---|---:|---:|---:|---:|"]
    return "\n".join(
        lines + [f"| {name} | {n or ''} | {took:.0f} | {took - work:.0f} | {1 - work / took:.0%} |"
                 for name, (n, took, work) in rows if took]
    )  # fmt: skip


def main(*words):
    if any((ROOT / "results").glob("*")):
        sys.exit("small_scale.py: results/ is there already; run this in a fresh clone, or after `make clean`.")
    clock, processor = spent()
    jobs = records.jobs(records.all_records(ROOT / "results").values())
    print(table("rule", sums(jobs, lambda record: record["rule"]), processor), end="\n\n")
    print(
        table("experiment", sums(jobs, lambda record: record["wildcards"].get("experiment", record["rule"])), processor)
    )
    print(f"\n{clock / 60:.1f} minutes by the clock, {processor / 60:.1f} of the processor")
    if "--record" in words:
        RECORD.write_text(json.dumps({"processor_time": round(processor), "clock": round(clock)}) + "\n")
    known = json.loads(RECORD.read_text())["processor_time"]
    if processor > MOST * known:
        sys.exit(f"that is more than {MOST:g} times the {known / 60:.1f} minutes of the processor that are on record")


if __name__ == "__main__":
    main(*sys.argv[1:])
