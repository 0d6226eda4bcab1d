"""What a job asks: its inputs, flags, parameters, modules and key. One function for each kind of rule says it.

The Snakefile imports this module, so it imports nothing large.
"""

from functools import cached_property
from pathlib import Path

from carryover import archive
from carryover.config import files, parameters, plugins
from carryover.config.artifacts import ARTIFACTS, DATA_FILES, STAGES
from carryover.config.parameters import as_flags, changed
from carryover.errors import UserError
from carryover.provenance.job_record import json_digest, plain
from carryover.workflow.command_line import ALSO


class Request:
    """One job of a `Sweep`.

    Attributes
    ----------
    inputs : list of str
        Results of other jobs, and files from outside, in the order of the command line.
    named_files : list of str
        Files besides them that the job reads.
    parameters : dict or Model
        All parameters with their defaults, as the record of the job stores them.
    seeds : list of int
        Seeds of a training job.
    flags : list of str
        The visible command line, the same for all equal requests: what differs from the defaults.
    modules : list of str
        The script, the plug-ins and data files; the code digest follows their imports.
    record : dict or None
        Of an archived dataset, its record in the archive.
    """

    def __init__(self, sweep, rule, wildcards):
        self.sweep, self.rule = sweep, rule
        self.inputs, self.named_files, self.seeds, self.flags = [], [], [], []
        self.parameters, self.modules, self.record = {}, [rule, *DATA_FILES.get(rule, ())], None
        if rule in ARTIFACTS:
            _artifact(self, wildcards[ARTIFACTS[rule].wildcard])
        else:
            KINDS[rule](self, **wildcards)

    def set_plugin(self, folder, name, options):
        """Take flags, parameters and modules from a plug-in and its section of the configuration."""
        self.parameters = parameters.read(parameters.model_of(folder, name), options, "")
        self.flags = [name, *as_flags(changed(self.parameters))]
        self.modules.append(plugins.modules(folder)[name])

    @property
    def code(self):
        return self.sweep.code_digest(*self.modules)

    @cached_property
    def key(self):
        """A digest over all that determines the result: rule, code, flags, all parameters, the content of files from
        outside, and the keys of the jobs upstream.

        Snakemake deletes the outputs of a job that it runs again, and does not restore them where the job fails. The
        results downstream stay, and their keys tell that they were made of something else.
        """
        jobs = self.sweep.job_of
        upstream = [self.sweep.request(*jobs[path]).key if path in jobs else self.sweep.sha256(path)
                    for path in self.inputs]  # fmt: skip
        named = [self.sweep.sha256(file) for file in self.named_files]
        return json_digest([self.rule, self.code, self.flags, plain(self.parameters), named, upstream])


def _training(job, experiment, point, block):
    """A stage of training: one batch of points and one block of seeds."""
    sweep, batches = job.sweep, job.sweep.batches(experiment, job.rule)
    if point not in batches:
        raise UserError(f"{experiment} has no {job.rule} point {point}; it has: {', '.join(batches) or 'none'}.")
    sources = [one.source.name for one in batches[point] if one.source]
    job.inputs = [f"{sweep.results}/{experiment}/pretrain/{source}/{block}.nc" for source in sources[:1]]
    job.seeds = list(sweep.blocks(experiment)[int(block)])
    points = [one.parameters for one in batches[point]]
    job.parameters = {"together": points} if len(points) > 1 else points[0]
    job.named_files = [file for p in points for file in parameters.files_read(p)]
    family = sweep.typed.experiments[experiment].family
    job.modules += [f"carryover.families.{family}.{module}" for module in (job.rule, "solvers")]
    first, *others = (as_flags(changed(p)) for p in points)
    common = as_flags({"experiment": experiment, "seeds": job.seeds})
    job.flags = [family, *common, *first]
    for more in others:
        job.flags += [ALSO, *more]


def _measure(job, experiment, measure, point, block):
    """A measure of the networks of one finetuned shard."""
    job.inputs = [f"{job.sweep.results}/{experiment}/finetune/{point}/{block}.nc"]
    job.set_plugin("measures", measure, job.sweep.typed.experiments[experiment].measures[measure])


def _collect(job, experiment, measure):
    """The shards of an experiment, measured where they are collected unless each was in a job of its own."""
    sweep, spec, stage = job.sweep, job.sweep.typed.experiments[experiment], STAGES[-1]
    family = {"family": spec.family}
    if measure in spec.split:
        stage, job.parameters, job.flags = f"measure/{measure}", family, as_flags(family)
    else:
        job.set_plugin("measures", measure, spec.measures[measure])
        job.parameters = {**family, "measure": measure, "options": job.parameters}
        job.flags = [*as_flags(family), "--measure", *job.flags]
    points, blocks = sweep.measured(experiment, measure), sweep.blocks(experiment)
    job.inputs = [f"{sweep.results}/{experiment}/{stage}/{point}/{block}.nc" for point in points for block in blocks]
    job.modules.append(f"carryover/families/{spec.family}/labels.json")


def _unarchive(job, dataset):
    """An archived dataset, in place of a collected one."""
    packed = archive.path(job.sweep.archive, *dataset.split("/"))
    job.record, job.inputs = archive.record(packed), [packed.as_posix()]
    job.parameters = {"sha256": job.record["unpacked"]["sha256"], "commit": job.record["commit"]}
    job.flags = ["--sha256", job.parameters["sha256"]]


def _curve(job, curve):
    """A theory curve."""
    job.set_plugin("theory.curves", curve, job.sweep.typed.curves[curve])


def _artifact(job, name):
    """A comparison, a group of claims, a figure or a table."""
    sweep, kind, papers = job.sweep, ARTIFACTS[job.rule], job.sweep.typed.papers
    entry = getattr(sweep.typed, kind.section)[name]
    job.inputs = [files.found(ref, sweep.root) if Path(ref).suffix else f"{sweep.results}/{ref}.nc"
                  for ref in entry.data.values()]  # fmt: skip
    # Category and labels in Snakemake's own report.
    job.paper = papers[entry.paper].name if entry.paper in papers else "Carryover"
    shown = [item.item for paper in papers.values() for item in paper.items if name in getattr(item, kind.section, ())]
    job.labels = {job.rule: name, "in the papers": "; ".join(dict.fromkeys(shown))}
    job.set_plugin(kind.plugins, getattr(entry, kind.key) or name, entry.options)
    job.flags[1:1] = as_flags({"roles": list(entry.data)})
    job.named_files = [sweep.root / "config/figures.mplstyle"] if job.rule == "figure" else []


def _claims_table(job):
    """The table of all claims, with the verdicts of other configurations."""
    tables = job.sweep.typed.other_claims.items()
    others = {name: files.found(file, job.sweep.root) for name, file in tables if file}
    job.inputs = [f"{job.sweep.results}/claims/{group}.nc" for group in sorted(job.sweep.typed.claims)]
    job.named_files = list(others.values())
    job.flags = as_flags({"others": [f"{name}={file}" for name, file in others.items()]}) if others else []


def _everything(job):
    """All results with their records: the report and the crate."""
    job.inputs = list(job.sweep.job_of)
    job.parameters = {section: job.sweep.config.get(section, {}) for section in ("papers", "figures", "tables")}


KINDS = dict.fromkeys(STAGES, _training) | {
    "measure": _measure, "collect": _collect, "unarchive": _unarchive, "curve": _curve,
    "claims_table": _claims_table, "report": _everything, "crate": _everything,
}  # fmt: skip
