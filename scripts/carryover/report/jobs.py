"""What the records of results say of the jobs that made them: how many, how long, on what, with which software."""

from collections import defaultdict
from dataclasses import dataclass

from carryover.provenance.record_index import jobs


@dataclass(frozen=True)
class Work:
    """The jobs of one rule: their number, times in seconds, and the most memory of one, in bytes."""

    jobs: int
    total: float
    longest: float
    memory: int


def work(records):
    """{rule: Work} of the jobs of records {path: record}."""
    by_rule = defaultdict(list)
    for record in jobs(records.values()):
        by_rule[record["rule"]].append(record["volatile"])
    return {
        rule: Work(
            jobs=len(spent),
            total=sum(one["duration"] for one in spent),
            longest=max(one["duration"] for one in spent),
            memory=max(one["peak_memory"] for one in spent),
        )
        for rule, spent in sorted(by_rule.items())
    }


def edges(records):
    """{(rule, rule that reads what it made)} over all jobs."""
    return {
        (records[name]["rule"], record["rule"])
        for record in records.values()
        for name in record["inputs"]
        if name in records
    }


def upstream(record, records):
    """{path: record} of all results that went into one, directly or not."""
    above, unseen = {}, [record]
    while unseen:
        for name in unseen.pop()["inputs"]:
            if name in records and name not in above:
                above[name] = records[name]
                unseen.append(records[name])
    return above


def seeds(records):
    """All seeds of some records, sorted."""
    return sorted({seed for record in records for seed in record["seeds"]})


def software(records):
    """{distribution: its versions, sorted} over some records; Python and BLAS among them."""
    versions = defaultdict(set)
    for record in records:
        environment = record["environment"]
        python, _, version = environment["python"].partition(" ")
        named = [(python, version), *environment["versions"].items()]
        named += [(blas["library"], str(blas["version"])) for blas in environment["blas"]]
        for name, version in named:
            versions[name].add(version)
    return {name: sorted(several) for name, several in sorted(versions.items())}


def machines(records):
    """Host, platform and device of every place where some records were made, as sorted texts."""
    places = set()
    for record in records:
        volatile, environment = record["volatile"], record["environment"]
        device = (environment["accelerator"] or {}).get("name", environment["device"])
        places.add(f"{volatile['host']}: {volatile['platform']}, {device}")
    return sorted(places)
