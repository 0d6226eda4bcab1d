"""The jobs of a configuration, and functions of wildcards for the rules, which hold no logic.

A *batch* of points of a stage is one job's share of the sweep, see `points`. A *shard* is a batch and a block of seeds.
The Snakefile imports this module, so it imports nothing large.
"""

import re
from functools import cache, cached_property, partialmethod
from itertools import product
from pathlib import Path

from carryover import archive
from carryover.config import configuration, files, parameters
from carryover.config.artifacts import ARTIFACTS, FORMATS, STAGES
from carryover.config.parameters import applies, in_words
from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.code_digest import closure_files
from carryover.provenance.job_record import json_digest
from carryover.workflow.points import batches_of_stages
from carryover.workflow.requests import Request

WILDCARDS = ("experiment", "point", "block", "measure", "dataset", "curve", *(k.wildcard for k in ARTIFACTS.values()))


class Sweep:
    """The jobs of a configuration, of the workflow in the folder `root`. Raises UserError for what is not allowed.

    Files of the workflow itself are found from `root`, results from the working directory.
    """

    def __init__(self, config, root):
        self.config, self.root = config, Path(root)
        self.typed = configuration.validate(config)
        self.results = self.typed.pathvars.results
        self.scripts = self.root / "scripts"
        self.archive = self.typed.archive and files.found(self.typed.archive, self.root)
        # Many jobs have the same code and read the same files.
        self.code_digest = cache(lambda *modules: json_digest(closure_files(self.scripts, *modules)))
        self.sha256, self.archived = cache(store.sha256_or_none), cache(self._archived)
        self._request = cache(lambda rule, items: Request(self, rule, dict(items)))
        self._batches = {name: batches_of_stages(name, spec) for name, spec in self.typed.experiments.items()}

    # What there is to make.

    def batches(self, experiment, stage):
        """{name: points that a job trains} of one stage of one experiment."""
        return self._batches[experiment][stage]

    def points(self, experiment, stage):
        """{name: Point} of one stage of one experiment, of all of its batches."""
        return {point.name: point for batch in self.batches(experiment, stage).values() for point in batch}

    def blocks(self, experiment):
        """{block: its seeds}; blocks have a fixed size, so more seeds only add blocks or fill the last one."""
        spec = self.typed.experiments[experiment]
        starts = range(0, spec.seeds, spec.block)
        return {block: range(start, min(start + spec.block, spec.seeds)) for block, start in enumerate(starts)}

    def datasets(self):
        """(experiment, measure) of every collected dataset."""
        return [(name, measure) for name, spec in self.typed.experiments.items() for measure in spec.measures]

    def _archived(self, experiment, measure):
        """Whether the configuration names an archive that has a dataset as the configuration asks for it."""
        return bool(self.typed.archive) and not archive.mismatch(self, experiment, measure)

    def measured(self, experiment, measure):
        """Names of the finetuned batches to which a measure applies, at least in part."""
        spec, model = self.typed.experiments[experiment], parameters.model_of("measures", measure)
        where = f"experiments.{experiment}.measures.{measure}"
        if model.FAMILIES and spec.family not in model.FAMILIES:
            raise UserError(f"{where} is of networks of {' or '.join(model.FAMILIES)}, not of {spec.family}.")
        points = {name: [point for point in batch if applies(model.APPLIES_TO, point.axes)]
                  for name, batch in self.batches(experiment, STAGES[-1]).items()}  # fmt: skip
        if not any(points.values()):
            raise UserError(f"{where} applies to no job of this experiment.")
        if not all(applies(model.NEEDS, vars(p.parameters)) for batch in points.values() for p in batch):
            raise UserError(f"{where} asks of {STAGES[-1]} that {in_words(model.NEEDS)}.")
        return [name for name, batch in points.items() if batch]

    def everything(self):
        """Every dataset, theory curve, claim, figure and table in every format, each with its record."""
        made = ((rule, output) for rule, _, output in self.jobs() if rule not in (*STAGES, "measure"))
        return [file for rule, output in made for path in self.outputs(rule, output) for file in (path, f"{path}.json")]

    def formats(self, rule):
        """Suffixes of the files that a job of a rule writes."""
        return [suffix for suffix in FORMATS.get(rule, (".nc",)) if suffix != ".pdf" or self.typed.pdf]

    def outputs(self, rule, first):
        """All files of a job, one for each format; `first` is the first of them."""
        return [Path(first).with_suffix(suffix).as_posix() for suffix in self.formats(rule)]

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
                points = self.measured(experiment, measure) if measure in spec.split else ()
                for point, block in product(points, self.blocks(experiment)):
                    wildcards = own | {"point": point, "block": block, "measure": measure}
                    yield "measure", wildcards, f"{folder}/measure/{measure}/{point}/{block}.nc"
            for measure in spec.measures:
                collect = "collect", own | {"measure": measure}
                unarchive = "unarchive", {"dataset": f"{experiment}/{measure}"}
                yield *(collect if measure in trained else unarchive), f"{folder}/{measure}.nc"
        for curve in self.typed.curves:
            yield "curve", {"curve": curve}, f"{self.results}/theory/{curve}.nc"
        for rule, kind in ARTIFACTS.items():
            for name in (entries := getattr(self.typed, kind.section)):
                yield rule, {kind.wildcard: name}, f"{self.results}/{kind.section}/{name}{self.formats(rule)[0]}"
            if rule == "check_claims" and entries:
                yield "claims_table", {}, f"{self.results}/claims.nc"

    @cached_property
    def job_of(self):
        """{output: (rule, wildcards)} of every job; of several formats, the first."""
        return {output: (rule, wildcards) for rule, wildcards, output in self.jobs()}

    def check(self):
        """Raise UserError for code that cannot be parsed, and for data that no job before makes."""
        made, collected = set(), []
        for rule, wildcards, output in self.jobs():
            request = self.request(rule, wildcards)
            _ = request.code
            for path in (*request.inputs, *request.named_files):
                if path not in made and not Path(path).is_file():
                    where = f"{kind.section}.{wildcards[kind.wildcard]}.data" if (kind := ARTIFACTS.get(rule)) else rule
                    listed = ", ".join(collected)
                    raise UserError(f"{where}: {path} is neither a file nor made here; known are {listed}.")
            made.add(output)
            if rule not in (*STAGES, "measure"):
                collected.append(output.removeprefix(f"{self.results}/").removesuffix(".nc"))

    # For the rules: what wildcards can be, and functions of them.

    def constraints(self):
        """{wildcard: regular expression} of what there is, so that a path that no job makes fits no rule."""
        values = {name: set() for name in WILDCARDS}
        for _, wildcards, _ in self.jobs():
            for name, value in wildcards.items():
                values[name].add(re.escape(str(value)))
        return {name: "|".join(sorted(found)) or "(?!)" for name, found in values.items()}

    def request(self, rule, wildcards):
        """The `requests.Request` of a job."""
        return self._request(rule, tuple(sorted((name, str(value)) for name, value in wildcards.items())))

    def _asked(self, attribute, rule):
        """A function of wildcards, which gives an attribute of the request of a job of this rule."""
        return lambda wildcards: getattr(self.request(rule, wildcards), attribute)

    inputs = partialmethod(_asked, "inputs")
    flags = partialmethod(_asked, "flags")
    key = partialmethod(_asked, "key")
    paper = partialmethod(_asked, "paper")
    labels = partialmethod(_asked, "labels")

    def resource(self, name):
        """A resource of the experiment's training jobs (`resources: {gpu: 1, mem_mb: 4000}`).

        Memory and time double with every attempt: a job that ran out of them may then fit.
        """

        def resource(wildcards, attempt):
            value = getattr(self.typed.experiments[wildcards["experiment"]].resources, name)
            return value if name == "gpu" else value * 2 ** (attempt - 1)

        return resource
