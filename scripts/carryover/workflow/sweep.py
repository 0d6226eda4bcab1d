"""What a configuration asks for: points and seeds of experiments, jobs, and functions of wildcards for the rules.

A *batch* of points of a stage is one job's share of the sweep, see `points`. A *shard* is a batch and a block of seeds.
The Snakefile imports this module, so it imports nothing large; its rules hold no logic.
"""

import os
import re
from functools import cache, cached_property, partial, partialmethod
from pathlib import Path

import yaml

from carryover import archive
from carryover.config import configuration, files, papers
from carryover.config.artifacts import ARTIFACTS, FORMATS, ON_DEMAND, SHARDS
from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.code_digest import closure_files
from carryover.provenance.job_record import json_digest
from carryover.workflow.points import batches_of_stages
from carryover.workflow.requests import all_requests

WILDCARDS = ("experiment", "point", "block", "measure", "dataset", "curve", *(k.wildcard for k in ARTIFACTS.values()))


class Sweep:
    """A configuration, with the files of its papers, and its jobs; UserError for what is not allowed.

    `config` is the dictionary that Snakemake reads. Files of the workflow itself are found from its folder `root`,
    results from the working directory.
    """

    def __init__(self, config, root):
        self.root = Path(root)
        self.config = papers.merge_papers(config, Path(self.file("config/papers")))
        # Nulls that have removed something, as tuples of keys.
        self.removed = {*files.nulls(config)} - {*files.nulls(self.config)}
        self.typed = configuration.validate(self.config)
        self.results = self.typed.pathvars.results
        self.scripts = self.root / "scripts"
        self.archive = self.typed.archive and self.file(self.typed.archive)
        # Many jobs have the same code and read the same files.
        self.code_files = cache(partial(closure_files, self.scripts))
        self.code_digest = cache(lambda *modules: json_digest(self.code_files(*modules)))
        self.sha256 = cache(store.sha256_or_none)
        self.mismatch = cache(partial(archive.mismatch, self))
        # {experiment: {stage: {name: points that a job trains}}}
        self.batches = {name: batches_of_stages(name, spec) for name, spec in self.typed.experiments.items()}

    def file(self, name):
        """A file of the working directory, or else the workflow's own of that name."""
        return files.find_file(name, self.root)

    # What there is to make.

    def points(self, experiment, stage):
        """{name: Point} of one stage of one experiment, of all of its batches."""
        return {point.name: point for batch in self.batches[experiment][stage].values() for point in batch}

    def blocks(self, experiment):
        """{block: its seeds}; blocks have a fixed size, so more seeds only add blocks or fill the last one."""
        spec = self.typed.experiments[experiment]
        starts = range(0, spec.seeds, spec.block)
        return {str(block): range(start, min(start + spec.block, spec.seeds)) for block, start in enumerate(starts)}

    def datasets(self):
        """(experiment, measure) of every collected dataset."""
        return [(name, measure) for name, spec in self.typed.experiments.items() for measure in spec.measures]

    @cached_property
    def jobs(self):
        """{output: Request} of every job, each after those that it is made of; of several formats, the first."""
        return {request.output: request for request in all_requests(self)}

    def everything(self):
        """Every dataset, theory curve, claim, figure and table in every format, each with its record."""
        requests = [request for request in self.jobs.values() if request.rule not in (*SHARDS, *ON_DEMAND)]
        return [file for request in requests for output in request.outputs for file in (output, f"{output}.json")]

    def formats(self, rule):
        """Suffixes of the files that a job of a rule writes."""
        return [suffix for suffix in FORMATS.get(rule, (".nc",)) if suffix != ".pdf" or self.typed.pdf]

    def first(self):
        """The first figure of each paper, if the configuration has it."""
        names = dict.fromkeys(paper.first for paper in self.typed.papers.values())
        return [f"{self.results}/figures/{name}.png" for name in names if name in self.typed.figures]

    def check(self):
        """Raise UserError for code that cannot be parsed, for data that no earlier job makes, and for places where no
        result can be written."""
        results = Path(self.results)
        there = next(folder for folder in (results, *results.absolute().parents) if os.path.lexists(folder))
        if not there.is_dir() or not os.access(there, os.W_OK):
            link = f"a link to {os.readlink(there)}, which leads nowhere" if there.is_symlink() else "no folder"
            why = "not to be written into, by its owner or its disk" if there.is_dir() else link
            raise UserError(f"cannot write into the results folder {results}: {there} is {why}.")
        if self.archive and not os.path.isdir(self.archive):
            raise UserError(
                f"archive: there is no folder {self.archive}; make it if datasets are to be packed into it."
            )
        outputs: set = set()
        datasets: list = []
        for output, request in self.jobs.items():
            _ = request.code  # parses it
            for path in (*request.inputs, *request.named_files):
                # A result that no job here makes may still be there, of another configuration: it does not count.
                old = str(path).startswith(f"{self.results}/")
                if path not in outputs and (old or not Path(path).is_file()):
                    kind, listed = ARTIFACTS.get(request.rule), ", ".join(datasets)
                    where = f"{kind.section}.{request.wildcards[kind.wildcard]}.data" if kind else request.rule
                    self.check_not_removed(str(path).removeprefix(f"{self.results}/").removesuffix(".nc"), where)
                    raise UserError(f"{where}: {path} is neither a file nor made here; known are {listed}.")
            outputs.add(output)
            if request.rule not in SHARDS:
                datasets.append(output.removeprefix(f"{self.results}/").removesuffix(".nc"))
            for file in request.outputs:
                if os.path.lexists(file) and not os.path.isfile(file):
                    raise UserError(f"{file} is no file, so that no result can take its place: move it away.")

    def check_not_removed(self, data, where):
        """Raise UserError if what an entry at `where` refers to as `data` (`<experiment>/<measure>`, `theory/<curve>`,
        `<section>/<name>`) is removed by a null in the configuration."""
        name, _, measure = data.partition("/")
        places = {("experiments", name), ("experiments", name, "measures"), ("experiments", name, "measures", measure)}
        if found := self.removed & {*places, ({"theory": "curves"}.get(name, name), measure)}:
            null = ".".join(min(found))
            raise UserError(f"configuration: {null} is null, but {where} is made of {data}: set that to null too.")

    # For the rules: what wildcards can be, and functions of them.

    def constraints(self):
        """{wildcard: regular expression of its values in all jobs}, so that a path that no job makes matches no rule;
        `(?!)`, which matches nothing, for a wildcard of no job."""
        values: dict[str, set] = {name: set() for name in WILDCARDS}
        for request in self.jobs.values():
            for name, value in request.wildcards.items():
                values[name].add(re.escape(value))
        return {name: "|".join(sorted(allowed)) or "(?!)" for name, allowed in values.items()}

    def _from_request(self, attribute, rule):
        """A function of Snakemake's wildcards that returns an attribute of the `Request` for the job of this rule with
        them, as rules take for their inputs and parameters; UserError where there is no such job."""
        jobs = {frozenset(request.wildcards.items()): request for request in self.jobs.values() if request.rule == rule}

        def value(wildcards):
            if request := jobs.get(frozenset(wildcards.items())):
                return getattr(request, attribute)
            raise UserError(f"{rule} makes nothing of {' '.join(f'{k}={v}' for k, v in wildcards.items())}.")

        return value

    inputs = partialmethod(_from_request, "inputs")
    flags = partialmethod(_from_request, "flags")
    key = partialmethod(_from_request, "key")
    paper = partialmethod(_from_request, "paper")
    labels = partialmethod(_from_request, "labels")

    def config_file(self, results):
        """A function of wildcards that writes the configuration, which may be too long for a command line, to a file in
        the results' logs and returns its path. A module's results are in the folder of its prefix."""

        def path(wildcards):
            file = Path(results, "logs/audit.config.yaml")
            with store.atomic(file) as (unfinished,):
                unfinished.write_text(yaml.safe_dump(self.config | {"pathvars": {"results": results}}, sort_keys=False))
            return file.as_posix()

        return path

    def resource(self, name):
        """A function (wildcards, attempt), as Snakemake calls it, that returns the resource `name` of a training job:
        a value of its experiment's section `resources` (`{gpu: 1, mem_mb: 4000}`).

        Memory and time, unlike GPUs, double with every attempt: a job that failed for lack of them may then succeed.
        """

        def resource(wildcards, attempt):
            value = getattr(self.typed.experiments[wildcards["experiment"]].resources, name)
            return value if name == "gpu" else value * 2 ** (attempt - 1)

        return resource
