"""What it would cost to decide claims that are open: the seeds that they lack, times what one took.

Times stand in records, and differ from run to run: so they are told in reports and by `carryover undecided`, and not in
the table of claims, whose bytes are the same whenever its contents are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from carryover.analysis.claims_table import MORE_SEEDS
from carryover.config.artifacts import STAGES
from carryover.errors import UserError
from carryover.provenance.record_index import jobs
from carryover.report.jobs import upstream
from carryover.report.words import count, duration

HOUR = 3600.0


@dataclass(frozen=True)
class Cost:
    """Of a claim that more seeds would decide: how many are missing, and {experiment: processor's seconds of one seed}
    of all experiments that its group reads; None where a record is missing."""

    missing: int
    seed: Mapping[str, float] | None

    @property
    def seconds(self) -> float:
        """Processor's seconds, at most: a claim may rest on some of the experiments alone. NaN where not known."""
        return np.nan if self.seed is None else self.missing * sum(self.seed.values())

    def __str__(self) -> str:
        return "cost not known" if self.seed is None else f"at most {duration(self.seconds)}"


def costs(table: Any, name: str, records: Mapping[str, dict[str, Any]]) -> dict[str, Cost]:
    """{claim: its cost} of the claims that more seeds would decide, of the table `name` among `records`.

    Raises UserError for a table that does not say what would decide its claims.
    """
    if "would_decide" not in table:
        raise UserError(f"{name} is an older version's: delete it and run `snakemake claims_table` again.")
    groups = {Path(made).stem: made for made in records[name]["inputs"]}
    rows = table.isel(claim=table["would_decide"].values == MORE_SEEDS)
    missing = (rows["seeds_needed"] - rows["seeds"]).to_series().astype(int)
    of_group = {group: _of_a_seed(groups.get(group), Path(name).parent, records)
                for group in {claim.partition("/")[0] for claim in missing.index}}  # fmt: skip
    return {claim: Cost(number, of_group[claim.partition("/")[0]]) for claim, number in missing.items()}


def together(some: Iterable[Cost]) -> float:
    """Processor's seconds of several costs that are known: an experiment gets its seeds once, for all of them."""
    experiments: dict[str, float] = defaultdict(float)
    for one in some:
        for experiment, seconds in (one.seed or {}).items():
            experiments[experiment] = max(experiments[experiment], one.missing * seconds)
    return sum(experiments.values())


def sentence(found: Mapping[str, Cost]) -> str:
    """What deciding all of these claims takes, and how many of them an hour decides."""
    known = sorted((one for one in found.values() if one.seed is not None), key=lambda one: one.seconds)
    if not known:
        return (
            f"What more seeds cost is not known of {count(len(found), 'claim')}: records are missing." if found else ""
        )
    cheapest = sum(together(known[: number + 1]) <= HOUR for number in range(len(known)))
    within = f" ({cheapest} of them within an hour)" if cheapest < len(known) else ""
    unknown = len(found) - len(known)
    lacking = f" Of {count(unknown, 'claim')} the cost is not known: records are missing." if unknown else ""
    whole = f"More seeds would decide {count(len(known), 'claim')} in at most {duration(together(known))} of one core"
    return f"{whole}, by what seeds have taken here{within}.{lacking}"


def _of_a_seed(name: str | None, results: Path, records: Mapping[str, dict[str, Any]]) -> dict[str, float] | None:
    """{experiment: processor's seconds of one seed} of all training and measuring upstream of a result; None where a
    record, or a time in one, is missing."""
    if name not in records:
        return None
    above = upstream(records[name], records)
    inputs = {made for record in (records[name], *above.values()) for made in record["inputs"]}
    if any(results in Path(made).parents and made not in above for made in inputs):
        return None
    seconds: dict[str, float] = defaultdict(float)
    seeds = defaultdict(set)
    for record in jobs(above.values()):
        if record["rule"] in (*STAGES, "measure"):
            experiment = record["wildcards"].get("experiment", "")  # without where it was run by hand
            spent = record["volatile"]
            seconds[experiment] += spent.get("processor_time", np.nan) + spent.get("resumed", {}).get("seconds", 0.0)
            seeds[experiment].update(record["seeds"])
    found = {experiment: total / (len(seeds[experiment]) or np.nan) for experiment, total in seconds.items()}
    return found if np.isfinite(list(found.values())).all() else None
