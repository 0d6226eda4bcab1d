"""What a job asks: its inputs, flags, parameters, modules and key, with one class for each kind of rule.

The Snakefile imports this module, so it imports nothing large.
"""

import hashlib
import json
from functools import cached_property

from carryover import archive
from carryover.config import parameters
from carryover.config.artifacts import ARTIFACTS, STAGES, TEMPLATES
from carryover.config.parameters import as_flags
from carryover.errors import UserError
from carryover.workflow import coordinate_labels
from carryover.workflow.command_line import ALSO


class Request:
    """One job of a `Sweep`. This class serves rules that read all results and have no flags.

    Attributes
    ----------
    inputs : list of str
        Results of other jobs, and files from outside, in the order of the command line.
    plugin : (str, str) or None
        Folder and name of the plug-in that the script runs.
    options
        What the configuration says of the plug-in's parameters.
    seeds : list of int
        Seeds of a training job.
    """

    plugin, options, seeds = None, None, ()

    def __init__(self, sweep, rule, wildcards):
        self.sweep, self.rule, self.wildcards, self.results = sweep, rule, wildcards, sweep.results

    @property
    def inputs(self):
        return list(self.sweep.job_of)

    @property
    def parameters(self):
        """All parameters with their defaults, as the record of the job stores them."""
        return parameters.read(parameters.model_of(*self.plugin), self.options, "") if self.plugin else {}

    @property
    def flags(self):
        """The visible command line, the same for all equal requests: what differs from the defaults."""
        return [self.plugin[1], *as_flags(_changed(self.parameters))] if self.plugin else []

    @property
    def modules(self):
        """The script and the plug-ins; the code digest follows their imports."""
        return [self.rule, *([f"carryover.{'.'.join(self.plugin)}"] if self.plugin else [])]

    @property
    def code(self):
        return self.sweep.code_digest(self.sweep.scripts, *self.modules)

    @property
    def shipped(self):
        """Files of the workflow that the job reads besides its code, relative to its folder."""
        style = ["config/figures.mplstyle"] if self.rule == "figure" else []
        sentences = ["scripts/carryover/claims/claims.yaml"] if self.rule == "claims_table" else []
        return style + sentences + [f"scripts/carryover/templates/{name}" for name in TEMPLATES.get(self.rule, ())]

    @property
    def named_files(self):
        """Files from outside that parameters name."""
        return []

    @cached_property
    def files(self):
        """The files from outside that the job or a job upstream reads: when one changes, all of these run again."""
        # Nothing may depend on the place of a workflow elsewhere; the key has the content of shipped files.
        found = [*self.named_files, *(self.shipped if self.sweep.at_home else [])]
        for path in self.inputs:
            upstream = self.sweep.request_of(path)
            found += upstream.files if upstream else [path]
        return list(dict.fromkeys(found))

    @cached_property
    def key(self):
        """A digest over all that determines the result: rule, code, flags, all parameters, shipped files, and the keys
        of the jobs upstream.

        Snakemake deletes the outputs of a job that it runs again, and does not restore them where the job fails. The
        results downstream stay, and their keys tell that they were made of something else.
        """
        root, hashes = self.sweep.root, []
        for file in self.shipped:
            if not (root / file).is_file():
                raise UserError(f"{file} is missing: it comes with the workflow.")
            hashes.append(hashlib.sha256((root / file).read_bytes()).hexdigest())
        upstream = []
        for path in self.inputs:
            request = self.sweep.request_of(path)
            # No key may depend on the place of the workflow.
            upstream.append(request.key if request else path.removeprefix(f"{root.as_posix()}/"))
        content = [self.rule, self.code, self.flags, plain(self.parameters), hashes, upstream]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Training(Request):
    """A stage of training: one batch of points and one block of seeds."""

    @cached_property
    def batch(self):
        batches = self.sweep.batches(self.wildcards.experiment, self.rule)
        if self.wildcards.point not in batches:
            known = ", ".join(batches) or "none"
            raise UserError(
                f"{self.wildcards.experiment} has no {self.rule} point {self.wildcards.point}; it has: {known}."
            )
        return batches[self.wildcards.point]

    @property
    def seeds(self):
        return list(self.sweep.blocks(self.wildcards.experiment)[int(self.wildcards.block)])

    @property
    def inputs(self):
        folder = f"{self.results}/{self.wildcards.experiment}/pretrain"
        return [f"{folder}/{self.batch.source}/{self.wildcards.block}.nc"] if self.batch.source else []

    @property
    def named_files(self):
        return [file for point in self.batch.points for file in parameters.files_read(point.parameters)]

    @property
    def parameters(self):
        first, *others = (point.parameters for point in self.batch.points)
        return {"together": [first, *others]} if others else first

    @property
    def modules(self):
        return [self.rule, *self.batch.modules]

    @property
    def flags(self):
        family = self.sweep.typed.experiments[self.wildcards.experiment].family
        first, *others = (as_flags(point.named) for point in self.batch.points)
        common = as_flags({"experiment": self.wildcards.experiment, "seeds": self.seeds})
        return [family, *common, *first, *(word for point in others for word in (ALSO, *point))]


class Measure(Request):
    """A measure of the networks of one finetuned shard."""

    @property
    def plugin(self):
        return "measures", self.wildcards.measure

    @property
    def options(self):
        return self.sweep.typed.experiments[self.wildcards.experiment].measures[self.wildcards.measure]

    @property
    def inputs(self):
        return [f"{self.results}/{self.wildcards.experiment}/finetune/{self.wildcards.point}/{self.wildcards.block}.nc"]


class Collect(Measure):
    """The shards of an experiment, measured where they are collected unless each was in a job of its own."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.experiment, self.measure = self.wildcards.experiment, self.wildcards.measure
        self.family = self.sweep.typed.experiments[self.experiment].family
        self.is_measured = self.sweep.is_split(self.experiment, self.measure)

    @property
    def inputs(self):
        folder = f"{self.results}/{self.experiment}/{f'measure/{self.measure}' if self.is_measured else STAGES[-1]}"
        points, blocks = self.sweep.measured(self.experiment, self.measure), self.sweep.blocks(self.experiment)
        return [f"{folder}/{point}/{block}.nc" for point in points for block in blocks]

    @property
    def parameters(self):
        measure = {} if self.is_measured else {"measure": self.measure, "options": super().parameters}
        return {"family": self.family, **measure}

    @property
    def modules(self):
        measure = [] if self.is_measured else [f"carryover.measures.{self.measure}"]
        labels = coordinate_labels.module(self.family, self.sweep.scripts)
        return [self.rule, *measure, *([labels] if labels else [])]

    @property
    def flags(self):
        family = ["--family", self.family]
        if self.is_measured:
            return family
        return [*family, "--measure", self.measure, *as_flags(_changed(self.parameters["options"]))]


class Unarchive(Request):
    """An archived dataset, in place of a collected one."""

    @property
    def record(self):
        return archive.record(self.sweep.archive, *self.wildcards.dataset.split("/"))

    @property
    def inputs(self):
        return [archive.path(self.sweep.archive, *self.wildcards.dataset.split("/")).as_posix()]

    @property
    def parameters(self):
        return {"sha256": self.record["unpacked"]["sha256"], "commit": self.record["commit"]}

    @property
    def flags(self):
        return ["--sha256", self.parameters["sha256"]]


class Curve(Request):
    """A theory curve."""

    inputs = ()

    @property
    def plugin(self):
        return "theory.curves", self.wildcards.curve

    @property
    def options(self):
        return self.sweep.typed.curves[self.wildcards.curve]


class Artifact(Request):
    """A comparison, a group of claims, a figure or a table."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        kind = ARTIFACTS[self.rule]
        name = self.wildcards[kind.wildcard]
        self.entry = getattr(self.sweep.typed, kind.section)[name]
        self.options, self.data = self.entry.options, self.sweep.data(self.entry)
        self.plugin = (kind.plugins, getattr(self.entry, kind.key) or name)

    @property
    def inputs(self):
        return list(self.data.values())

    @property
    def paper(self):
        """Name of its paper, the category in Snakemake's own report."""
        paper = self.sweep.typed.papers.get(self.entry.paper)
        return paper.name if paper else "Carryover"

    @property
    def flags(self):
        plugin, *changed = super().flags
        own = {"roles": list(self.data)}
        if self.rule == "check_claims" and self.entry.paper:
            names = {file: paper.name for file, paper in self.sweep.typed.papers.items()}
            own["paper"] = names[self.entry.paper]
            if elsewhere := [f"{c}={names[file]}" for file, claims in self.entry.elsewhere.items() for c in claims]:
                own["elsewhere"] = sorted(elsewhere)
        return [plugin, *as_flags(own), *changed]


class ClaimsTable(Request):
    """The table of all claims."""

    @property
    def inputs(self):
        return [f"{self.results}/claims/{group}.nc" for group in sorted(self.sweep.typed.claims)]

    @property
    def named_files(self):
        return list(self.sweep.claims_beside().values())

    @property
    def flags(self):
        beside = [f"{name}={file}" for name, file in self.sweep.claims_beside().items()]
        return ["--beside", *beside] if beside else []


class Report(Request):
    """The report on all results."""

    @property
    def parameters(self):
        return {section: self.sweep.config.get(section, {}) for section in ("papers", "figures", "tables")}


KINDS = dict.fromkeys(STAGES, Training) | dict.fromkeys(ARTIFACTS, Artifact) | {
    "measure": Measure, "collect": Collect, "unarchive": Unarchive, "curve": Curve,
    "claims_table": ClaimsTable, "report": Report, "crate": Request,
}  # fmt: skip


def plain(values):
    """Parameters, models among them, as they come back from JSON."""
    return json.loads(json.dumps(values, default=lambda model: model.model_dump()))


def _changed(p):
    """{name: value} of the parameters that are not at their default."""
    return {name: value for name, value in p if value != type(p).model_fields[name].default}
