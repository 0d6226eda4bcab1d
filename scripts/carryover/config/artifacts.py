"""Artifacts, which are made of datasets: for each rule its section of the configuration and its files."""

from dataclasses import dataclass

STAGES = ("pretrain", "finetune")  # of training


@dataclass(frozen=True)
class Kind:
    """A section of the configuration, which is its folder in the results as well.

    `wildcard` names an entry in the rule, `suffixes` are those of its files. `plugins` is the folder of the plug-ins
    that make it, and `key` the key that names one.
    """

    section: str
    wildcard: str
    suffixes: tuple[str, ...]
    plugins: str
    key: str

    def outputs(self, results, name):
        """The files of an entry, one for each suffix."""
        return [f"{results}/{self.section}/{name}{suffix}" for suffix in self.suffixes]


# Each is made of experiments, curves, files, and of what stands before it.
ARTIFACTS = {
    "compare": Kind("comparisons", "comparison", (".nc",), "claims.comparisons", "compare"),
    "check_claims": Kind("claims", "claim", (".nc",), "claims", "check"),
    "figure": Kind("figures", "figure", (".png", ".svg", ".pdf"), "figures", "plot"),
    "table": Kind("tables", "table", (".md", ".tex"), "figures.tables", "rows"),
}
# The formats of rules with several outputs; other jobs read the first.
SUFFIXES = {"claims_table": (".nc", ".md", ".html")} | {rule: kind.suffixes for rule, kind in ARTIFACTS.items()}
# Made of all results, and only on demand.
ON_DEMAND = {"crate.zip": "crate", "report.html": "report"}
_PAGE = ("base.html.j2", "elements.html.j2", "style.css")
# The templates in carryover/templates of the page that a rule writes.
TEMPLATES = {
    "diagnose": (*_PAGE, "diagnosis.html.j2"),
    "claims_table": (*_PAGE, "claims.html.j2"),
    "report": (*_PAGE, "report.html.j2"),
}
