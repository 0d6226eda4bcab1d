"""What a job asks: its inputs, flags, parameters, modules and key, with one class for each kind of rule.

The Snakefile imports this module, so it imports nothing large.
"""

import hashlib
import json
from functools import cached_property

from carryover import archive, labels
from carryover.config import parameters
from carryover.config.artifacts import ARTIFACTS, STAGES, TEMPLATES
from carryover.config.parameters import as_flags
from carryover.errors import UserError
from carryover.provenance.plain_json import plain
from carryover.workflow.command_line import ALSO


class Request:
    """One job of a `Sweep`. This class serves rules that read all results and have no flags.

    Attributes
    ----------
    inputs : list of str
        Results of other jobs, and files from outside, in the order of the command line.
    named_files : list of str
        Files from outside that parameters name.
    parameters : dict or Model
        All parameters with their defaults, as the record of the job stores them.
    seeds : list of int
        Seeds of a training job.
    flags : list of str
        The visible command line, the same for all equal requests: what differs from the defaults.
    modules : list of str
        The script and the plug-ins; the code digest follows their imports.
    labels : dict
        Labels of coordinates that the job attaches, from files that are no code.
    """

    def __init__(self, sweep, rule, wildcards):
        self.sweep, self.rule, self.wildcards, self.labels = sweep, rule, wildcards, {}
        self.parameters, self.seeds, self.flags, self.modules, self.named_files = {}, [], [], [rule], []

    def set_plugin(self, folder, name, options):
        """Take flags, parameters and modules from a plug-in and its section of the configuration."""
        self.parameters = parameters.read(parameters.model_of(folder, name), options, "")
        self.flags = [name, *as_flags(_changed(self.parameters))]
        self.modules.append(f"carryover.{folder}.{name}")

    @cached_property
    def inputs(self):
        return list(self.sweep.job_of)

    @property
    def code(self):
        return self.sweep.code_digest(self.sweep.scripts, *self.modules)

    @property
    def shipped(self):
        """Files of the workflow that the job reads besides its code, relative to its folder."""
        style = ["config/figures.mplstyle"] if self.rule == "figure" else []
        sentences = ["scripts/carryover/claims/claims.yaml"] if self.rule == "claims_table" else []
        return style + sentences + [f"scripts/carryover/templates/{name}" for name in TEMPLATES.get(self.rule, ())]

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
        content = [self.rule, self.code, self.flags, plain(self.parameters), self.labels, hashes, upstream]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Training(Request):
    """A stage of training: one batch of points and one block of seeds."""

    def __init__(self, sweep, rule, wildcards):
        super().__init__(sweep, rule, wildcards)
        experiment, batches = wildcards.experiment, sweep.batches(wildcards.experiment, rule)
        if wildcards.point not in batches:
            known = ", ".join(batches) or "none"
            raise UserError(f"{experiment} has no {rule} point {wildcards.point}; it has: {known}.")
        batch = batches[wildcards.point]
        start = f"{sweep.results}/{experiment}/pretrain/{batch.source}/{wildcards.block}.nc"
        self.inputs = [start] if batch.source else []
        self.seeds = list(sweep.blocks(experiment)[int(wildcards.block)])
        points = [point.parameters for point in batch.points]
        self.parameters = {"together": points} if len(points) > 1 else points[0]
        self.named_files = [file for p in points for file in parameters.files_read(p)]
        self.modules += batch.modules
        first, *others = (as_flags(point.named) for point in batch.points)
        common = as_flags({"experiment": experiment, "seeds": self.seeds})
        self.flags = [sweep.typed.experiments[experiment].family, *common, *first]
        for point in others:
            self.flags += [ALSO, *point]


class Measure(Request):
    """A measure of the networks of one finetuned shard."""

    def __init__(self, sweep, rule, wildcards):
        super().__init__(sweep, rule, wildcards)
        experiment, measure = wildcards.experiment, wildcards.measure
        self.inputs = [f"{sweep.results}/{experiment}/finetune/{wildcards.point}/{wildcards.block}.nc"]
        self.set_plugin("measures", measure, sweep.typed.experiments[experiment].measures[measure])


class Collect(Request):
    """The shards of an experiment, measured where they are collected unless each was in a job of its own."""

    def __init__(self, sweep, rule, wildcards):
        super().__init__(sweep, rule, wildcards)
        experiment, measure = wildcards.experiment, wildcards.measure
        spec, stage = sweep.typed.experiments[experiment], STAGES[-1]
        family = {"family": spec.family}
        if sweep.is_split(experiment, measure):
            stage, self.parameters, self.flags = f"measure/{measure}", family, as_flags(family)
        else:
            self.set_plugin("measures", measure, spec.measures[measure])
            self.parameters = {**family, "measure": measure, "options": self.parameters}
            self.flags = [*as_flags(family), "--measure", *self.flags]
        points, blocks = sweep.measured(experiment, measure), sweep.blocks(experiment)
        folder = f"{sweep.results}/{experiment}/{stage}"
        self.inputs = [f"{folder}/{point}/{block}.nc" for point in points for block in blocks]
        self.labels = labels.of_family(spec.family, sweep.scripts / "carryover/families")


class Unarchive(Request):
    """An archived dataset, in place of a collected one."""

    def __init__(self, sweep, rule, wildcards):
        super().__init__(sweep, rule, wildcards)
        place = (sweep.archive, *wildcards.dataset.split("/"))
        self.record, self.inputs = archive.record(*place), [archive.path(*place).as_posix()]
        self.parameters = {"sha256": self.record["unpacked"]["sha256"], "commit": self.record["commit"]}
        self.flags = ["--sha256", self.parameters["sha256"]]


class Curve(Request):
    """A theory curve."""

    def __init__(self, sweep, rule, wildcards):
        super().__init__(sweep, rule, wildcards)
        self.inputs = []
        self.set_plugin("theory.curves", wildcards.curve, sweep.typed.curves[wildcards.curve])


class Artifact(Request):
    """A comparison, a group of claims, a figure or a table."""

    def __init__(self, sweep, rule, wildcards):
        super().__init__(sweep, rule, wildcards)
        kind, papers = ARTIFACTS[rule], sweep.typed.papers
        name = wildcards[kind.wildcard]
        entry = getattr(sweep.typed, kind.section)[name]
        self.inputs = list(sweep.data(entry).values())
        # The category in Snakemake's own report.
        self.paper = papers[entry.paper].name if entry.paper in papers else "Carryover"
        self.set_plugin(kind.plugins, getattr(entry, kind.key) or name, entry.options)
        own = {"roles": list(entry.data)}
        if rule == "check_claims" and entry.paper:
            own["paper"] = papers[entry.paper].name
            if elsewhere := [f"{one}={papers[file].name}" for file, ones in entry.elsewhere.items() for one in ones]:
                own["elsewhere"] = sorted(elsewhere)
        self.flags[1:1] = as_flags(own)


class ClaimsTable(Request):
    """The table of all claims."""

    def __init__(self, sweep, rule, wildcards):
        super().__init__(sweep, rule, wildcards)
        beside = sweep.claims_beside()
        self.inputs = [f"{sweep.results}/claims/{group}.nc" for group in sorted(sweep.typed.claims)]
        self.named_files = list(beside.values())
        self.flags = as_flags({"beside": [f"{name}={file}" for name, file in beside.items()]}) if beside else []


class Report(Request):
    """The report on all results."""

    def __init__(self, sweep, rule, wildcards):
        super().__init__(sweep, rule, wildcards)
        self.parameters = {section: sweep.config.get(section, {}) for section in ("papers", "figures", "tables")}


KINDS = dict.fromkeys(STAGES, Training) | dict.fromkeys(ARTIFACTS, Artifact) | {
    "measure": Measure, "collect": Collect, "unarchive": Unarchive, "curve": Curve,
    "claims_table": ClaimsTable, "report": Report, "crate": Request,
}  # fmt: skip


def _changed(p):
    """{name: value} of the parameters that are not at their default."""
    return {name: value for name, value in p if value != type(p).model_fields[name].default}
