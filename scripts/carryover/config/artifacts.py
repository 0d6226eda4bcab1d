"""What is made of data, by the rule that makes it: its section of the configuration, and what is written (standard
library only)."""

from dataclasses import dataclass
from pathlib import Path

from carryover.config.canonical import canonical
from carryover.config.parameters import as_flags


@dataclass(frozen=True)
class Kind:
    """A section of the configuration, which is its folder in the results as well.

    `one` is what an entry is called in wildcards, `file` the name of what is written but for its `suffixes`. `plugins`
    is the folder of the plug-ins that make it, and `key` the key that names one; None where the script itself does.
    One that `cites` is told the names of papers, and one that `states` has titles, which may rest on claims.
    """

    section: str
    one: str
    suffixes: tuple[str, ...]
    plugins: str | None = None
    key: str | None = None
    file: str = "{}"
    cites: bool = False
    states: bool = False

    def names(self, config):
        """The entries that a configuration has."""
        return list(config.get(self.section, {}))

    def entry(self, config, wildcards):
        """(plug-in, section) of an entry; the plug-in has the entry's own name unless it says otherwise."""
        name = getattr(wildcards, self.one)
        entry = config[self.section][name]
        return entry.get(self.key, name) if self.plugins else None, entry

    def outputs(self, results, name):
        """The files of an entry, one for each suffix."""
        return [f"{results}/{self.section}/{self.file.format(name)}{suffix}" for suffix in self.suffixes]

    def files(self, config, results, wildcards):
        """{role: file} of what an entry is made of."""
        refs = self.entry(config, wildcards)[1]["data"]
        return {role: ref if Path(ref).suffix else f"{results}/{ref}.nc" for role, ref in refs.items()}

    def options(self, plugin):
        """The schema's definition of the parameters that a plug-in has, or the script itself."""
        return f"{self.plugins}.{plugin}" if self.plugins else f"{self.section}.options"

    def flags(self, config, wildcards, kinds):
        """The flags of a job, whose parameters have these kinds, but for the files."""
        plugin, entry = self.entry(config, wildcards)
        given = {"roles": list(entry["data"])} if self.plugins else {}
        names = {file: about["name"] for file, about in config.get("papers", {}).items() if self.cites}
        if entry.get("paper") in names:
            elsewhere = entry.get("elsewhere", {})
            others = sorted(f"{claim}={names[paper]}" for paper, claims in elsewhere.items() for claim in claims)
            given |= {"paper": names[entry["paper"]], **({"elsewhere": others} if others else {})}
        return [*filter(None, [plugin]), *as_flags({**given, **canonical(entry.get("options", {}), kinds)})]

    def file_flags(self, config, results, wildcards):
        """The flags that name the files: a script without plug-ins has one for each role."""
        files = self.files(config, results, wildcards)
        return ["--data", *files.values()] if self.plugins else as_flags(files)


STAGES = ("pretrain", "finetune")  # of training
# Each is made of experiments, curves, files, and what stands before it here.
MADE_OF_DATA = {
    "compare": Kind("comparisons", "comparison", (".nc",), "comparisons", "compare"),
    "check_claims": Kind("claims", "claim", (".nc",), "claims", "check", cites=True),
    "figure": Kind("figures", "figure", (".png", ".svg", ".pdf"), "plotting", "plot", states=True),
    "table": Kind("tables", "table", (".md", ".tex"), "tables", "rows"),
    "diagnose": Kind("diagnoses", "diagnosis", (".nc", ".png", ".html"), file="{}/diagnosis"),
}
# The formats of what a rule writes in several, the first being that which other jobs read.
SUFFIXES = {"claims_table": (".nc", ".md", ".html")} | {rule: kind.suffixes for rule, kind in MADE_OF_DATA.items()}
# What a rule makes of all of it when it is asked for, in the results folder: not missing where it is not.
ON_DEMAND = {"crate.zip": "crate", "report.html": "report"}
_PAGE = ("base.html.j2", "elements.html.j2", "style.css")
# The templates in carryover/templates of the page that a rule writes.
TEMPLATES = {
    "diagnose": (*_PAGE, "diagnosis.html.j2", "diagnosis_table.html.j2"),
    "claims_table": (*_PAGE, "claims.html.j2"),
    "report": (*_PAGE, "report.html.j2"),
}


def templates(rule):
    """The templates that a job reads, from the project's folder."""
    return [f"scripts/carryover/templates/{name}" for name in TEMPLATES.get(rule, ())]


def reads(rule):
    """The files of the project's own that every job of a rule reads beside its data."""
    return (["config/figures.mplstyle"] if rule in ("figure", "diagnose") else []) + templates(rule)
