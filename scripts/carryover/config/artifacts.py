"""Artifacts, which are made of datasets: for each rule its section of the configuration and its files."""

from dataclasses import dataclass

STAGES = ("pretrain", "finetune")  # of training
SHARDS = (*STAGES, "measure")  # rules that make parts of datasets


@dataclass(frozen=True)
class Kind:
    """A section of the configuration, which is its folder in the results as well.

    `wildcard` names an entry in the rule. `plugins` is the folder of the plug-ins that make it, and `key` the key that
    names one.
    """

    section: str
    wildcard: str
    plugins: str
    key: str


# Each is made of experiments, curves, files, and of what stands before it.
ARTIFACTS = {
    "compare": Kind("comparisons", "comparison", "claims.comparisons", "compare"),
    "check_claims": Kind("claims", "claim", "claims", "check"),
    "figure": Kind("figures", "figure", "figures", "plot"),
    "table": Kind("tables", "table", "figures.tables", "rows"),
}
PLUGINS = {"measure": "measures", "curve": "theory.curves"} | {rule: kind.plugins for rule, kind in ARTIFACTS.items()}
"""The folder in `carryover` of the plug-ins that a rule runs."""
FORMATS = {
    "claims_table": (".nc", ".md", ".html"),
    "figure": (".png", ".pdf"),
    "table": (".md", ".tex"),
    "report": (".html",),
    "crate": (".zip",),
}
"""Suffixes of the files that a job of a rule writes, where they are not one netCDF file; other jobs read the first. A
configuration may leave out PDF."""
# Made of all results, and only on demand.
ON_DEMAND = ("crate", "report")
_TEMPLATES = "carryover/templates/*.[cj]*"  # style.css and *.html.j2
DATA_FILES = {
    "collect": ["carryover/families/labels.json"],
    "claims_table": [_TEMPLATES],
    "report": [_TEMPLATES],
}
"""Files in `scripts` that jobs of a rule read besides modules, as patterns: they are part of the code."""
