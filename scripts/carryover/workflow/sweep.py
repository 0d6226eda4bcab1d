"""What the workflow makes, read off the configuration alone (nothing large is imported, for the Snakefile reads this).
Rules get functions of wildcards from here, and hold no logic.

A *batch* of points of a stage is one job's worth of the sweep, see `points`. A *shard* is a batch and a block of seeds.
"""

import hashlib
import json
import re
from functools import cache, cached_property
from itertools import product
from pathlib import Path

from carryover import archive, labels
from carryover.config import configuration, parameters
from carryover.config.artifacts import MADE_OF_DATA, ON_DEMAND, STAGES, SUFFIXES, TEMPLATES
from carryover.config.parameters import applies, as_flags, in_words
from carryover.provenance.code_digest import closure_digest
from carryover.workflow.command_line import ALSO
from carryover.workflow.points import SweepError, batches_of_stages, refuse_too_many


class Wildcards(dict):
    """Values by name, as attributes too: what Snakemake hands to functions of wildcards."""

    __getattr__ = dict.__getitem__


class Sweep:
    """The jobs of a configuration, of the project in the folder `root`. Raises UserError for what is not allowed.

    Files of the workflow itself are found from `root`, results from the working directory.
    """

    def __init__(self, config, root, results="results"):
        self.config, self.root, self.results = config, Path(root), results
        self.typed = configuration.validate(config)
        self.scripts = self.root / "scripts"
        self._digest = cache(closure_digest)  # many jobs have the same code
        self.archive = self.typed.archive and self.found(self.typed.archive)
        self.archived, self._key, self._outside = cache(self._archived), cache(self._key_of), cache(self._outside_of)
        self._batches = {}
        for name, spec in self.typed.experiments.items():
            self._batches |= {(name, stage): found for stage, found in batches_of_stages(name, spec).items()}
        blocks = {name: -(-spec.seeds // spec.block) for name, spec in self.typed.experiments.items()}
        count = sum(len(found) * blocks[name] for (name, _), found in self._batches.items())
        refuse_too_many("configuration:", count, f"seeds in {sum(blocks.values())} blocks")

    # What there is to make.

    def batches(self, experiment, stage):
        """{name: Batch} of one stage of one experiment."""
        return self._batches[experiment, stage]

    def points(self, experiment, stage):
        """{name: Point} of one stage of one experiment, of all of its batches."""
        return {point.name: point for batch in self.batches(experiment, stage).values() for point in batch.points}

    def blocks(self, experiment):
        """{block: its seeds}; blocks have a fixed size, so more seeds only add blocks or fill the last one."""
        seeds, size = self.typed.experiments[experiment].seeds, self.typed.experiments[experiment].block
        return {b: range(size * b, min(size * (b + 1), seeds)) for b in range(-(-seeds // size))}

    def datasets(self):
        """(experiment, measure) of every dataset that stands for a whole experiment."""
        return [(name, measure) for name, spec in self.typed.experiments.items() for measure in spec.measures]

    def _archived(self, experiment, measure):
        """Whether the configuration names an archive that has a dataset as the configuration asks for it."""
        return bool(self.typed.archive) and not archive.mismatch(self, experiment, measure)

    def collected(self):
        """Every dataset that stands for a whole experiment or theory curve, with its record."""
        measured = [f"{self.results}/{experiment}/{measure}.nc" for experiment, measure in self.datasets()]
        return recorded(measured + [f"{self.results}/theory/{curve}.nc" for curve in self.typed.curves])

    def made_of_data(self, *rules):
        """Everything that some rules make of data, or all that do, in every format, with its records."""
        kinds = [MADE_OF_DATA[rule] for rule in rules or MADE_OF_DATA]
        entries = ((kind, name) for kind in kinds for name in getattr(self.typed, kind.section))
        return recorded(path for kind, name in entries for path in kind.outputs(self.results, name))

    def first(self):
        """The figure that each paper shows first, where it is made here."""
        named = dict.fromkeys(paper.first for paper in self.typed.papers.values())
        return [f"{self.results}/figures/{name}.png" for name in named if name in self.typed.figures]

    def claims_table(self):
        """The table of all claims in every format, with its records; nothing where there are no claims."""
        files = [f"{self.results}/claims{suffix}" for suffix in SUFFIXES["claims_table"]]
        return recorded(files) if self.typed.claims else []

    @cached_property
    def job_of(self):
        """{output: (rule, wildcards)} of every job; of several formats, the first."""
        return {output: (rule, wildcards) for rule, wildcards, output in self.jobs()}

    def jobs(self):
        """(rule, wildcards, output) of every job; of several formats, the first."""
        for experiment, spec in self.typed.experiments.items():
            folder = f"{self.results}/{experiment}"
            trained = [measure for measure in spec.measures if not self.archived(experiment, measure)]
            for stage in STAGES if trained or not spec.measures else ():
                for point, block in product(self.batches(experiment, stage), self.blocks(experiment)):
                    wildcards = Wildcards(experiment=experiment, point=point, block=block)
                    yield stage, wildcards, f"{folder}/{stage}/{point}/{block}.nc"
                    for measure in trained if stage == STAGES[-1] else ():
                        if self.apart(experiment, measure) and point in self._measured(experiment, measure):
                            output = f"{folder}/measure/{measure}/{point}/{block}.nc"
                            yield "measure", Wildcards(**wildcards, measure=measure), output
            for measure in spec.measures:
                if measure in trained:
                    yield "collect", Wildcards(experiment=experiment, measure=measure), f"{folder}/{measure}.nc"
                else:
                    yield "unarchive", Wildcards(dataset=f"{experiment}/{measure}"), f"{folder}/{measure}.nc"
        for curve in self.typed.curves:
            yield "curve", Wildcards(curve=curve), f"{self.results}/theory/{curve}.nc"
        for rule, kind in MADE_OF_DATA.items():
            for name in getattr(self.typed, kind.section):
                yield rule, Wildcards({kind.one: name}), kind.outputs(self.results, name)[0]
        yield from (("claims_table", Wildcards(), path) for path in self.claims_table()[:1])

    def check(self):
        """Raise UserError for code that cannot be parsed, and for data and groups of claims that no job makes."""
        for rule, wildcards, _ in self.jobs():
            self.code(rule)(wildcards)
            self.made_of(rule)(wildcards)
        for name, path in self._beside().items():
            if not Path(path).is_file():
                raise SweepError(f"claims_beside.{name}: there is no file {path}.")
        made = self.collected()
        for rule, kind in MADE_OF_DATA.items():
            for name, entry in getattr(self.typed, kind.section).items():
                for path in self._data(entry).values():
                    if path not in made and not Path(path).is_file():
                        known = [one.removeprefix(f"{self.results}/").removesuffix(".nc") for one in made
                                 if one.endswith(".nc")]  # fmt: skip
                        raise SweepError(f"{kind.section}.{name}.data: {path} is neither a file nor made here; known "
                                         f"are {', '.join(known)}.")  # fmt: skip
                for claim in getattr(entry, "rests_on", ()):
                    if (group := claim.partition("/")[0]) not in self.typed.claims:
                        known, where = ", ".join(self.typed.claims) or "none", f"{kind.section}.{name}.rests_on"
                        raise SweepError(f"{where}: there is no group {group} in claims, but {known}.")
            made = [*made, *self.made_of_data(rule), *(self.claims_table() if rule == "check_claims" else ())]

    # For the rules: what wildcards can be, and functions of them.

    def constraints(self):
        """{wildcard: regular expression} of what there is, so that a path that no job makes fits no rule."""
        experiments = self.typed.experiments
        names = {
            "experiment": experiments,
            "measure": {measure for spec in experiments.values() for measure in spec.measures},
            "point": {name for batches in self._batches.values() for name in batches},
            "block": {block for experiment in experiments for block in self.blocks(experiment)},
            "curve": self.typed.curves,
            "dataset": {"/".join(dataset) for dataset in self.datasets() if self.archived(*dataset)},
            **{kind.one: getattr(self.typed, kind.section) for kind in MADE_OF_DATA.values()},
        }
        return {name: "|".join(re.escape(str(v)) for v in sorted(values)) or "(?!)" for name, values in names.items()}

    def made_of(self, rule, *roles):
        """What a job reads: results of other jobs and, where it is made of data, files from outside; of some roles."""

        def inputs(wildcards):
            folder = f"{self.results}/{wildcards.get('experiment')}"
            if rule == "finetune":
                source = self._batch(wildcards, rule).source
                return [f"{folder}/pretrain/{source}/{wildcards.block}.nc"] if source else []
            if rule == "measure":
                return [f"{folder}/finetune/{wildcards.point}/{wildcards.block}.nc"]
            if rule == "collect":
                measure = wildcards.measure
                stage = f"measure/{measure}" if self.apart(wildcards.experiment, measure) else STAGES[-1]
                points = self._measured(wildcards.experiment, measure)
                return [f"{folder}/{stage}/{p}/{b}.nc" for p in points for b in self.blocks(wildcards.experiment)]
            if rule == "unarchive":
                return [archive.path(self.archive, *wildcards.dataset.split("/")).as_posix()]
            if rule == "claims_table":
                return [f"{self.results}/claims/{group}.nc" for group in sorted(self.typed.claims)]
            if rule in MADE_OF_DATA:
                files = self._data(self._entry(rule, wildcards))
                return [files[role] for role in roles or files if role in files]
            return list(self.job_of) if rule in ON_DEMAND.values() else []

        return inputs

    def paper(self, rule):
        """The name of the paper of a figure or table, its category in Snakemake's own report."""

        def paper(wildcards):
            found = self.typed.papers.get(self._entry(rule, wildcards).paper)
            return found.name if found else "Carryover"

        return paper

    def _entry(self, rule, wildcards):
        return getattr(self.typed, MADE_OF_DATA[rule].section)[getattr(wildcards, MADE_OF_DATA[rule].one)]

    def _data(self, entry):
        """{role: file} of what an entry is made of."""
        return {role: self.found(ref) if Path(ref).suffix else f"{self.results}/{ref}.nc"
                for role, ref in entry.data.items()}  # fmt: skip

    def files(self, rule):
        """The files from outside that a job reads, and all jobs above it: where one changes, all of them run again."""
        return lambda wildcards: self._outside(rule, _frozen(wildcards))

    def _outside_of(self, rule, frozen):
        wildcards = Wildcards(frozen)
        found = []
        if rule in STAGES:
            found = [f for p in self._batch(wildcards, rule).points for f in parameters.files_read(p.parameters)]
        if rule == "claims_table":
            found = list(self._beside().values())
        found += self.shipped_files(rule)
        for path in self.made_of(rule)(wildcards):
            above, names = self.job_of.get(path, (None, None))
            found += self._outside(above, _frozen(names)) if above else [path]
        return list(dict.fromkeys(found))

    def found(self, file):
        """A file of the working directory, or else one of that name that comes with the workflow."""
        shipped = self.root / file
        return file if Path(file).exists() or not shipped.exists() else shipped.as_posix()

    def shipped(self, file):
        """A file that comes with the workflow, as seen from the working directory."""
        return file if Path().resolve() == self.root.resolve() else (self.root / file).as_posix()

    def shipped_files(self, rule):
        """Files of the workflow that a job reads, as its inputs; none where the workflow lies elsewhere, since nothing
        may depend on the place. Their content is in the key.
        """
        return _shipped(rule) if Path().resolve() == self.root.resolve() else []

    def flags(self, rule):
        """A job's visible command line: exactly its own section of the configuration, in one ordered list, in the one
        form of all that asks for the same."""

        def flags(wildcards):
            if rule in STAGES:
                spec = self.typed.experiments[wildcards.experiment]
                seeds = list(self.blocks(wildcards.experiment)[int(wildcards.block)])
                first, *others = (as_flags(point.named) for point in self._batch(wildcards, rule).points)
                common = as_flags({"experiment": wildcards.experiment, "seeds": seeds})
                return [spec.family, *common, *first, *(word for one in others for word in (ALSO, *one))]
            named = as_flags(_changed(self.options(rule)(wildcards)))
            if rule == "collect":
                family = ["--family", self.typed.experiments[wildcards.experiment].family]
                apart = self.apart(wildcards.experiment, wildcards.measure)
                return family if apart else [*family, "--measure", wildcards.measure, *named]
            if rule == "unarchive":
                return ["--sha256", self.archive_record(wildcards)["unpacked"]["sha256"]]
            if rule == "claims_table":
                beside = [f"{name}={file}" for name, file in self._beside().items()]
                return ["--beside", *beside] if beside else []
            if rule not in MADE_OF_DATA:
                return [self._plugin(rule, wildcards)[1], *named] if rule in ("measure", "curve") else []
            entry, plugin = self._entry(rule, wildcards), self._plugin(rule, wildcards)
            own = {"roles": list(entry.data)} if plugin else {}
            if rule == "check_claims" and entry.paper:
                names = {file: paper.name for file, paper in self.typed.papers.items()}
                others = sorted(f"{c}={names[file]}" for file, claims in entry.elsewhere.items() for c in claims)
                own |= {"paper": names[entry.paper]} | ({"elsewhere": others} if others else {})
            return [*(plugin[1:] if plugin else ()), *as_flags(own), *named]

        return flags

    def options(self, rule):
        """The parameters of a job, or of each point that it trains: typed, with all defaults."""

        def options(wildcards):
            if rule in STAGES:
                return [point.parameters for point in self._batch(wildcards, rule).points]
            if rule in ("measure", "collect"):
                measured = self.typed.experiments[wildcards.experiment].measures[wildcards.measure]
                return parameters.read(parameters.model_of("measures", wildcards.measure), measured, "")
            if rule == "curve":
                return parameters.read(
                    parameters.model_of("theory.curves", wildcards.curve), self.typed.curves[wildcards.curve], ""
                )
            if rule in MADE_OF_DATA:
                folder, plugin = self._plugin(rule, wildcards) or ("diagnosis", "options")
                return parameters.read(parameters.model_of(folder, plugin), self._entry(rule, wildcards).options, "")
            return parameters.Model()

        return options

    def _plugin(self, rule, wildcards):
        """(folder, name) of the plug-in that a job names; nothing where its script does without."""
        if rule == "measure":
            return "measures", wildcards.measure
        if rule == "curve":
            return "theory.curves", wildcards.curve
        kind = MADE_OF_DATA.get(rule)
        if not kind or not kind.plugins:
            return None
        return kind.plugins, getattr(self._entry(rule, wildcards), kind.key) or getattr(wildcards, kind.one)

    def code(self, rule):
        """Digest of the job's script and plug-ins with everything of ours that they import."""
        return lambda wildcards: self._digest(self.scripts, *self.modules(rule, wildcards))

    def modules(self, rule, wildcards):
        """The script and the plug-ins that a job names; what they import is found from there."""
        if rule in STAGES:
            return [rule, *self._batch(wildcards, rule).modules]
        if rule == "collect":
            apart = self.apart(wildcards.experiment, wildcards.measure)
            return [rule] if apart else [rule, f"carryover.measures.{wildcards.measure}"]
        plugin = self._plugin(rule, wildcards)
        return [rule, f"carryover.{'.'.join(plugin)}"] if plugin else [rule]

    def key(self, rule):
        """A digest over all that makes a job's result what it is: its rule and code, what is asked of it with all
        defaults, and the keys of what it is made of. It is the one parameter besides the visible flags.

        Snakemake deletes what a job is to make anew, and does not miss it where the job fails; what was made of it
        stands, and knows by its key that it is of something else.
        """
        return lambda wildcards: self._key(rule, _frozen(wildcards))

    def _key_of(self, rule, frozen):
        wildcards = Wildcards(frozen)
        here = f"{self.root.as_posix()}/"  # no key may hang on where the workflow lies
        if missing := [file for file in _shipped(rule) if not (self.root / file).is_file()]:
            raise SweepError(f"{missing[0]} is missing: it comes with the workflow.")
        shipped = [hashlib.sha256((self.root / file).read_bytes()).hexdigest() for file in _shipped(rule)]
        above = {path.removeprefix(here): self._key(self.job_of[path][0], _frozen(self.job_of[path][1]))
                 if path in self.job_of else "" for path in self.made_of(rule)(wildcards)}  # fmt: skip
        options = self.options(rule)(wildcards)
        asked = [p.model_dump(mode="json") for p in (options if isinstance(options, list) else [options])]
        if rule == "collect":
            family = self.typed.experiments[wildcards.experiment].family
            asked.append(labels.of_family(family, self.scripts / "carryover" / "families"))
        told = [rule, self.code(rule)(wildcards), self.flags(rule)(wildcards), asked, shipped, sorted(above.items())]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def resource(self, name):
        """A resource that the experiment asks for in its jobs (`resources: {gpu: 1, mem_mb: 4000}`).

        Memory and time double with every attempt: a job that ran out of them may then fit.
        """

        def resource(wildcards, attempt):
            value = getattr(self.typed.experiments[wildcards.experiment].resources, name)
            return value if name == "gpu" else value * 2 ** (attempt - 1)

        return resource

    def archive_record(self, wildcards):
        """The record of an archived dataset."""
        return archive.record(self.archive, *wildcards.dataset.split("/"))

    def apart(self, experiment, measure):
        """Whether each shard is measured in a job of its own, rather than where shards are collected."""
        return measure in self.typed.experiments[experiment].split

    def _beside(self):
        """{what it is: file} of the tables of claims that stand beside the one that is made."""
        return {name: self.found(file) for name, file in self.typed.claims_beside.items() if file}

    def _measured(self, experiment, measure):
        """Names of the finetuned batches to which a measure applies, in part at least: all, unless its model says
        otherwise."""
        spec, model = self.typed.experiments[experiment], parameters.model_of("measures", measure)
        where = f"experiments.{experiment}.measures.{measure}"
        if model.FAMILIES and spec.family not in model.FAMILIES:
            raise SweepError(f"{where} is of networks of {' or '.join(model.FAMILIES)}, not of {spec.family}.")
        measured = {name: [point for point in batch.points if applies(model.APPLIES_TO, point.axes)]
                    for name, batch in self.batches(experiment, STAGES[-1]).items()}  # fmt: skip
        if not any(measured.values()):
            raise SweepError(f"{where} applies to no job of this experiment.")
        if not all(applies(model.NEEDS, vars(p.parameters)) for points in measured.values() for p in points):
            raise SweepError(f"{where} asks of {STAGES[-1]} that {in_words(model.NEEDS)}.")
        return [name for name, points in measured.items() if points]

    def _batch(self, wildcards, stage):
        batches = self.batches(wildcards.experiment, stage)
        if wildcards.point not in batches:
            known = ", ".join(batches) or "none"
            raise SweepError(f"{wildcards.experiment} has no {stage} point {wildcards.point}; it has: {known}.")
        return batches[wildcards.point]


def recorded(files):
    """Results, each with its record."""
    return [path for file in files for path in (file, f"{file}.json")]


def _shipped(rule):
    style = ["config/figures.mplstyle"] if rule in ("figure", "diagnose") else []
    style += ["scripts/carryover/claims/claims.yaml"] if rule == "claims_table" else []
    return style + [f"scripts/carryover/templates/{name}" for name in TEMPLATES.get(rule, ())]


def _frozen(wildcards):
    return tuple(sorted((name, str(value)) for name, value in wildcards.items()))


def _changed(p):
    """{name: value} of the parameters that are not at their default; nothing of several points."""
    if isinstance(p, list):
        return {}
    return {name: value for name, value in p if value != type(p).model_fields[name].default}
