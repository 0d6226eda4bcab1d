"""The jobs of a configuration, and functions of wildcards for the rules, which hold no logic.

A *batch* of points of a stage is one job's share of the sweep, see `points`. A *shard* is a batch and a block of seeds.
The Snakefile imports this module, so it imports nothing large.
"""

import re
from functools import cache, cached_property
from itertools import product
from pathlib import Path

from carryover import archive
from carryover.config import configuration, parameters
from carryover.config.artifacts import ARTIFACTS, STAGES, SUFFIXES
from carryover.config.parameters import applies, in_words
from carryover.errors import UserError
from carryover.provenance.code_digest import closure_digest
from carryover.workflow.points import batches_of_stages
from carryover.workflow.requests import Request

MOST = 20_000
"""Training jobs of a configuration at most: Snakemake takes hours to plan more."""


class Sweep:
    """The jobs of a configuration, of the workflow in the folder `root`. Raises UserError for what is not allowed.

    Files of the workflow itself are found from `root`, results from the working directory.
    """

    def __init__(self, config, root, results=None):
        self.config, self.root = config, Path(root)
        self.typed = configuration.validate(config)
        self.results = results or self.typed.pathvars.results
        self.scripts = self.root / "scripts"
        self.archive = self.typed.archive and self.found(self.typed.archive)
        self.code_digest = cache(closure_digest)  # many jobs have the same code
        self.archived, self._request = (
            cache(self._archived),
            cache(lambda rule, items: Request(self, rule, dict(items))),
        )
        self._batches = {}
        for name, spec in self.typed.experiments.items():
            self._batches |= {(name, stage): found for stage, found in batches_of_stages(name, spec).items()}
        blocks = {name: -(-spec.seeds // spec.block) for name, spec in self.typed.experiments.items()}
        if (count := sum(len(found) * blocks[name] for (name, _), found in self._batches.items())) > MOST:
            raise UserError(f"configuration: {count} training jobs are more than {MOST}: let each train more seeds.")

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
        """(experiment, measure) of every collected dataset."""
        return [(name, measure) for name, spec in self.typed.experiments.items() for measure in spec.measures]

    def _archived(self, experiment, measure):
        """Whether the configuration names an archive that has a dataset as the configuration asks for it."""
        return bool(self.typed.archive) and not archive.mismatch(self, experiment, measure)

    def is_split(self, experiment, measure):
        """Whether each shard is measured in a job of its own, rather than where shards are collected."""
        return measure in self.typed.experiments[experiment].split

    def measured(self, experiment, measure):
        """Names of the finetuned batches to which a measure applies, at least in part."""
        spec, model = self.typed.experiments[experiment], parameters.model_of("measures", measure)
        where = f"experiments.{experiment}.measures.{measure}"
        if model.FAMILIES and spec.family not in model.FAMILIES:
            raise UserError(f"{where} is of networks of {' or '.join(model.FAMILIES)}, not of {spec.family}.")
        points = {name: [point for point in batch.points if applies(model.APPLIES_TO, point.axes)]
                  for name, batch in self.batches(experiment, STAGES[-1]).items()}  # fmt: skip
        if not any(points.values()):
            raise UserError(f"{where} applies to no job of this experiment.")
        if not all(applies(model.NEEDS, vars(p.parameters)) for batch in points.values() for p in batch):
            raise UserError(f"{where} asks of {STAGES[-1]} that {in_words(model.NEEDS)}.")
        return [name for name, batch in points.items() if batch]

    def collected(self):
        """Every dataset of a whole experiment or theory curve, with its record."""
        measured = [f"{self.results}/{experiment}/{measure}.nc" for experiment, measure in self.datasets()]
        return recorded(measured + [f"{self.results}/theory/{curve}.nc" for curve in self.typed.curves])

    def artifacts(self, *rules):
        """The artifacts of some rules, or of all, in every format, with their records."""
        kinds = [ARTIFACTS[rule] for rule in rules or ARTIFACTS]
        entries = ((kind, name) for kind in kinds for name in getattr(self.typed, kind.section))
        return recorded(path for kind, name in entries for path in kind.outputs(self.results, name))

    def claims_table(self):
        """The table of all claims in every format, with its records; empty without claims."""
        files = [f"{self.results}/claims{suffix}" for suffix in SUFFIXES["claims_table"]]
        return recorded(files) if self.typed.claims else []

    def other_claims(self):
        """{description: file} of the tables of claims that are shown beside the one that is made."""
        return {name: self.found(file) for name, file in self.typed.other_claims.items() if file}

    def first(self):
        """The figure that each paper shows first, where it is made here."""
        named = dict.fromkeys(paper.first for paper in self.typed.papers.values())
        return [f"{self.results}/figures/{name}.png" for name in named if name in self.typed.figures]

    def jobs(self):
        """(rule, wildcards, output) of every job; of several formats, the first."""
        for experiment, spec in self.typed.experiments.items():
            folder, own = f"{self.results}/{experiment}", {"experiment": experiment}
            trained = [measure for measure in spec.measures if not self.archived(experiment, measure)]
            for stage in STAGES if trained or not spec.measures else ():
                for point, block in product(self.batches(experiment, stage), self.blocks(experiment)):
                    yield stage, own | {"point": point, "block": block}, f"{folder}/{stage}/{point}/{block}.nc"
            for measure in trained:
                points = self.measured(experiment, measure) if self.is_split(experiment, measure) else ()
                for point, block in product(points, self.blocks(experiment)):
                    wildcards = own | {"point": point, "block": block, "measure": measure}
                    yield "measure", wildcards, f"{folder}/measure/{measure}/{point}/{block}.nc"
            for measure in spec.measures:
                if measure in trained:
                    yield "collect", own | {"measure": measure}, f"{folder}/{measure}.nc"
                else:
                    yield "unarchive", {"dataset": f"{experiment}/{measure}"}, f"{folder}/{measure}.nc"
        for curve in self.typed.curves:
            yield "curve", {"curve": curve}, f"{self.results}/theory/{curve}.nc"
        for rule, kind in ARTIFACTS.items():
            for name in getattr(self.typed, kind.section):
                yield rule, {kind.wildcard: name}, kind.outputs(self.results, name)[0]
            if rule == "check_claims":
                yield from (("claims_table", {}, path) for path in self.claims_table()[:1])

    @cached_property
    def job_of(self):
        """{output: (rule, wildcards)} of every job; of several formats, the first."""
        return {output: (rule, wildcards) for rule, wildcards, output in self.jobs()}

    def check(self):
        """Raise UserError for code that cannot be parsed, and for data that no job before makes."""
        made = {}
        for rule, wildcards, output in self.jobs():
            request = self.request(rule, wildcards)
            _ = request.code
            for path in (*request.inputs, *request.named_files):
                if path not in made and not Path(path).is_file():
                    where = f"{ARTIFACTS[rule].section}.{request.name}.data" if rule in ARTIFACTS else rule
                    listed = ", ".join(made[one] for one in made if made[one])
                    raise UserError(f"{where}: {path} is neither a file nor made here; known are {listed}.")
            named = output.removeprefix(f"{self.results}/").removesuffix(".nc")
            made[output] = "" if rule in (*STAGES, "measure") else named

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
            **{kind.wildcard: getattr(self.typed, kind.section) for kind in ARTIFACTS.values()},
        }
        return {name: "|".join(re.escape(str(v)) for v in sorted(values)) or "(?!)" for name, values in names.items()}

    def request(self, rule, wildcards):
        """The `requests.Request` of a job."""
        return self._request(rule, tuple(sorted((name, str(value)) for name, value in wildcards.items())))

    def request_of(self, path):
        """The request of the job that makes a file; None for a file from outside."""
        return self.request(*self.job_of[path]) if path in self.job_of else None

    def inputs(self, rule):
        return lambda wildcards: self.request(rule, wildcards).inputs

    def files(self, rule):
        return lambda wildcards: self.request(rule, wildcards).files

    def flags(self, rule):
        return lambda wildcards: list(self.request(rule, wildcards).flags)

    def key(self, rule):
        return lambda wildcards: self.request(rule, wildcards).key

    def paper(self, rule):
        return lambda wildcards: self.request(rule, wildcards).paper

    def labels(self, rule):
        """Labels in Snakemake's report: the name of a figure or table, and what it is in the papers."""

        def labels(wildcards):
            name, papers = wildcards[rule], self.config.get("papers", {}).values()
            items = [item for paper in papers for item in paper.get("items", ()) if name in item.get(f"{rule}s", ())]
            return {rule: name, "in the papers": "; ".join(dict.fromkeys(item["item"] for item in items))}

        return labels

    def resource(self, name):
        """A resource of the experiment's training jobs (`resources: {gpu: 1, mem_mb: 4000}`).

        Memory and time double with every attempt: a job that ran out of them may then fit.
        """

        def resource(wildcards, attempt):
            value = getattr(self.typed.experiments[wildcards["experiment"]].resources, name)
            return value if name == "gpu" else value * 2 ** (attempt - 1)

        return resource

    # Places.

    @property
    def at_home(self):
        """Whether the working directory is the folder of the workflow."""
        return Path().resolve() == self.root.resolve()

    def data(self, entry):
        """{role: file} of the data of an artifact's entry."""
        return {role: self.found(ref) if Path(ref).suffix else f"{self.results}/{ref}.nc"
                for role, ref in entry.data.items()}  # fmt: skip

    def found(self, file):
        """A file of the working directory, or else one of that name that comes with the workflow."""
        shipped = self.root / file
        return file if Path(file).exists() or not shipped.exists() else shipped.as_posix()

    def shipped(self, file):
        """A file that comes with the workflow, as seen from the working directory."""
        return file if self.at_home else (self.root / file).as_posix()


def recorded(files):
    """Results, each with its record."""
    return [path for file in files for path in (file, f"{file}.json")]
