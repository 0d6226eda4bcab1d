"""What the page on growth says of the number of jobs."""

import re
from collections import Counter
from pathlib import Path

import pytest

from carryover.audit import project
from carryover.workflow import startup

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("seeds", "block"), [(6, 6), (217, 60), (217, 6), (217, 1)])
def test_the_page_on_growth_says_how_many_jobs_there_are(monkeypatch, seeds, block):
    """Of ReLU networks with an overlap at the papers' scale, by the formula that stands there."""
    monkeypatch.setenv("CARRYOVER_MOST_SHARDS", "100000")
    asked = project.configuration([ROOT / "config/config.yaml", ROOT / "config/paper.yaml"]) | {"archive": None}
    asked["experiments"]["relu_overlap"] |= {"seeds": seeds, "block": block}
    made = startup.valid_sweep(asked, ROOT)
    jobs = Counter(rule for rule, wildcards, _ in made.jobs() if wildcards.get("experiment") == "relu_overlap")
    page = (ROOT / "docs/growth.md").read_text(encoding="utf-8")
    numbers = re.search(r"p, f, m = (\d+), (\d+), (\d+) and (\d+) measures, .* has (\d+) jobs for 6 seeds", page)
    p, f, m, c, whole = map(int, numbers.groups())
    blocks = -(-seeds // block)
    assert jobs == {"pretrain": blocks * p, "finetune": blocks * f, "measure": blocks * m, "collect": c}
    rows = re.findall(rf"block of {block}\b.*? \| ([\d ]+) \|", page)
    said = whole if seeds == 6 else int(rows[0].replace(" ", ""))
    assert said == sum(jobs.values())
