"""What the workflow makes, read off the configuration and its schema alone (standard library only: the Snakefile
imports it). Rules get functions of wildcards from here, and hold no logic.

A *point* of a stage is one job's worth of the sweep, see `points`. A *shard* is a point and a block of seeds.
"""

import re
from functools import cache
from itertools import product
from pathlib import Path

from carryover import archive
from carryover.config.artifacts import MADE_OF_DATA, STAGES, SUFFIXES, reads
from carryover.config.canonical import canonical
from carryover.config.parameters import applies, as_flags, files, in_words
from carryover.provenance.code_digest import closure_digest
from carryover.workflow import coordinate_labels
from carryover.workflow.points import SweepError, Wildcards, points_of_stages, recorded, refuse_too_many


class Sweep:
    def __init__(self, config, schema, scripts, results="results"):
        self.config, self.schema, self.scripts, self.results = config, schema, Path(scripts), results
        self._digest = cache(closure_digest)  # many jobs have the same code
        self.archived = cache(self._archived)
        self._points = {(name, stage): points for name, spec in config.get("experiments", {}).items()
                        for stage, points in points_of_stages(name, spec, schema["$defs"]).items()}  # fmt: skip
        self._refuse_too_many()

    # What there is to make.

    def points(self, experiment, stage):
        """{name: Point} of one stage of one experiment."""
        return self._points[experiment, stage]

    def blocks(self, experiment):
        """{block: its seeds}; blocks have a fixed size, so more seeds only add blocks or fill the last one."""
        seeds, size = self._seeds(experiment)
        return {b: range(size * b, min(size * (b + 1), seeds)) for b in range(-(-seeds // size))}

    def _seeds(self, experiment):
        spec = self.config["experiments"][experiment]
        return spec["seeds"], spec.get("block", self._default("block"))

    def _refuse_too_many(self):
        counts = {}
        for (experiment, _), points in self._points.items():
            seeds, size = self._seeds(experiment)
            counts[experiment] = counts.get(experiment, 0) + len(points) * -(-seeds // size)
        if counts:
            most = max(counts, key=counts.get)
            seeds, size = self._seeds(most)
            others = f" and {len(counts) - 1} other experiments" if len(counts) > 1 else ""
            refuse_too_many(f"experiments.{most}:", sum(counts.values()), f"{seeds} seeds in blocks of {size}{others}")

    def datasets(self):
        """(experiment, measure) of every dataset that stands for a whole experiment."""
        return [(e, m) for e, spec in self.config.get("experiments", {}).items() for m in spec.get("measures", {})]

    def _archived(self, experiment, measure):
        """Whether the configuration names an archive that has a dataset as the configuration asks for it."""
        return bool(self.config.get("archive")) and not archive.mismatch(self, experiment, measure)

    def collected(self):
        """Every dataset that stands for a whole experiment or theory curve, with its record."""
        measured = [f"{self.results}/{experiment}/{measure}.nc" for experiment, measure in self.datasets()]
        return recorded(measured + [f"{self.results}/theory/{curve}.nc" for curve in self.config.get("curves", {})])

    def made_of_data(self, *rules):
        """Everything that some rules make of data, or all that do, in every format, with its records."""
        kinds = [MADE_OF_DATA[rule] for rule in rules or MADE_OF_DATA]
        entries = ((kind, name) for kind in kinds for name in kind.names(self.config))
        return recorded(path for kind, name in entries for path in kind.outputs(self.results, name))

    def first(self):
        """The figure that each paper shows first, where it is made here."""
        named = dict.fromkeys(about.get("first") for about in self.config.get("papers", {}).values())
        return [f"{self.results}/figures/{name}.png" for name in named if name in self.config.get("figures", {})]

    def checked(self):
        """Every group of claims."""
        return [f"{self.results}/claims/{group}.nc" for group in sorted(self.config.get("claims", {}))]

    def claims_table(self):
        """The table of all claims in every format, with its records; nothing where there are no claims."""
        return (
            recorded(f"{self.results}/claims{suffix}" for suffix in SUFFIXES["claims_table"]) if self.checked() else []
        )

    def jobs(self):
        """(rule, wildcards, output) of every job; of several formats, the first."""
        for experiment, spec in self.config.get("experiments", {}).items():
            trained = [m for m in spec.get("measures", {}) if not self.archived(experiment, m)]
            for stage in STAGES if trained or not spec.get("measures") else ():
                for point, block in product(self.points(experiment, stage), self.blocks(experiment)):
                    wildcards = Wildcards(experiment=experiment, point=point, block=block)
                    yield stage, wildcards, f"{self.results}/{experiment}/{stage}/{point}/{block}.nc"
                    for measure in trained if stage == STAGES[-1] else ():
                        if point not in self._measured(experiment, measure) or self.selects(measure):
                            continue
                        output = f"{self.results}/{experiment}/measure/{measure}/{point}/{block}.nc"
                        yield "measure", Wildcards(**wildcards, measure=measure), output
            for measure in spec.get("measures", {}):
                rule, wildcards = "collect", Wildcards(experiment=experiment, measure=measure)
                if measure not in trained:
                    rule, wildcards = "unarchive", Wildcards(dataset=f"{experiment}/{measure}")
                yield rule, wildcards, f"{self.results}/{experiment}/{measure}.nc"
        for curve in self.config.get("curves", {}):
            yield "curve", Wildcards(curve=curve), f"{self.results}/theory/{curve}.nc"
        for rule, kind in MADE_OF_DATA.items():
            for name in kind.names(self.config):
                yield rule, Wildcards({kind.one: name}), kind.outputs(self.results, name)[0]
        yield from (("claims_table", Wildcards(), path) for path in self.claims_table()[:1])

    def check(self):
        """Raise UserError for code that cannot be parsed, and for data and groups of claims that no job makes."""
        for rule, wildcards, _ in self.jobs():
            self.code(rule)(wildcards)
        for name, path in self._beside().items():
            if not Path(path).is_file():
                raise SweepError(f"claims_beside.{name}: there is no file {path}.")
        made = self.collected()
        for rule, kind in MADE_OF_DATA.items():
            for name in kind.names(self.config):
                self._check_data(kind, name, made)
                self._check_stated(kind, name)
            made = [*made, *self.made_of_data(rule), *(self.claims_table() if rule == "check_claims" else ())]

    def _check_data(self, kind, name, made):
        """Raise UserError where an entry is made of what is neither a file nor among the results `made` before it."""
        for path in kind.files(self.config, self.results, Wildcards({kind.one: name})).values():
            if path not in made and not Path(path).is_file():
                known = [
                    one.removeprefix(f"{self.results}/").removesuffix(".nc") for one in made if one.endswith(".nc")
                ]
                made_here = f"; known are {', '.join(known)}" if kind.plugins and known else ""
                raise SweepError(f"{kind.section}.{name}.data: {path} is neither a file nor made here{made_here}.")

    def _check_stated(self, kind, name):
        """Raise UserError where a title rests on a group of claims that is not here; the report knows those in one."""
        groups = self.config.get("claims", {})
        for claim in self.config[kind.section][name].get("rests_on", ()):
            if (group := claim.partition("/")[0]) not in groups:
                known = ", ".join(groups) or "none"
                raise SweepError(f"{kind.section}.{name}.rests_on: there is no group {group} in claims, but {known}.")

    # For the rules: what wildcards can be, and functions of them.

    def constraints(self):
        """{wildcard: regular expression} of what there is, so that a path that no job makes fits no rule."""
        experiments = self.config.get("experiments", {})
        names = {
            "experiment": experiments,
            "measure": {measure for spec in experiments.values() for measure in spec.get("measures", {})},
            "point": {point for points in self._points.values() for point in points},
            "block": {block for experiment in experiments for block in self.blocks(experiment)},
            "curve": self.config.get("curves", {}),
            "dataset": {"/".join(dataset) for dataset in self.datasets() if self.archived(*dataset)},
            **{kind.one: kind.names(self.config) for kind in MADE_OF_DATA.values()},
        }
        return {name: "|".join(re.escape(str(v)) for v in sorted(values)) or "(?!)" for name, values in names.items()}

    def shards(self, pattern):
        """Every shard of one experiment to which one measure applies, in the stage ({stage}) that has its values."""

        def inputs(wildcards):
            points = self._measured(wildcards.experiment, wildcards.measure)
            stage = STAGES[-1] if self.selects(wildcards.measure) else f"measure/{wildcards.measure}"
            blocks = self.blocks(wildcards.experiment)
            return [pattern.format(**wildcards, stage=stage, point=p, block=b) for p in points for b in blocks]

        return inputs

    def packed(self, wildcards):
        """The file of an archived dataset."""
        return archive.path(self.config["archive"], *wildcards.dataset.split("/")).as_posix()

    def archive_record(self, wildcards):
        """The record of an archived dataset."""
        return archive.record(self.config["archive"], *wildcards.dataset.split("/"))

    def upstream(self, pattern, stage):
        """The one earlier shard that a shard of `stage` starts from, if it starts from any."""

        def inputs(wildcards):
            point = self._point(wildcards, stage)
            return [pattern.format(**{**wildcards, "point": point.upstream})] if point.upstream else []

        return inputs

    def files(self, rule):
        """The files that a job reads beside its data: those that its parameters name, or style and templates."""

        def inputs(wildcards):
            if rule == "claims_table":
                return [*reads(rule), *self._beside().values()]
            if rule not in STAGES:
                return reads(rule)
            kinds = self.kinds(rule, wildcards)
            values = self._point(wildcards, rule).values
            named = (file for name, value in values.items() if kinds[name].get("path") for file in files(value))
            return list(dict.fromkeys(named))

        return inputs

    def data(self, rule, *roles):
        """The files that something is made of: those of these roles that it has, or all in the order of its `data`."""

        def inputs(wildcards):
            files = MADE_OF_DATA[rule].files(self.config, self.results, wildcards)
            return [files[role] for role in roles or files if role in files]

        return inputs

    def flags(self, stage):
        """A job's visible command line: exactly its own section of the configuration, in one ordered list, in the one
        form of all that asks for the same."""

        def flags(wildcards):
            if stage in STAGES:
                spec = self.config["experiments"][wildcards.experiment]
                seeds = self.blocks(wildcards.experiment)[int(wildcards.block)]
                own = {"experiment": wildcards.experiment, "seeds": list(seeds), **self._point(wildcards, stage).asked}
                return [spec["family"], *as_flags(own)]
            if stage == "claims_table":
                named = [f"{name}={file}" for name, file in self._beside().items()]
                return ["--beside", *named] if named else []
            if stage == "collect":
                select = ["--select", wildcards.measure] if self.selects(wildcards.measure) else []
                return ["--family", self.config["experiments"][wildcards.experiment]["family"], *select]
            if stage == "unarchive":
                return ["--sha256", self.archive_record(wildcards)["unpacked"]["sha256"]]
            kinds = self.kinds(stage, wildcards)
            if stage == "measure":
                section = self.config["experiments"][wildcards.experiment]["measures"]
                return [wildcards.measure, *as_flags(canonical(section[wildcards.measure] or {}, kinds))]
            if stage == "curve":
                return [wildcards.curve, *as_flags(canonical(self.config["curves"][wildcards.curve] or {}, kinds))]
            return MADE_OF_DATA[stage].flags(self.config, wildcards, kinds) if stage in MADE_OF_DATA else []

        return flags

    def kinds(self, stage, wildcards):
        """{name: its schema} of the parameters of a job."""
        if stage in STAGES:
            return self._kinds(f"{self.config['experiments'][wildcards.experiment]['family']}.{stage}")
        if stage == "measure":
            return self._kinds(f"measures.{wildcards.measure}")
        if stage == "curve":
            return self._kinds(f"curves.{wildcards.curve}")
        kind = MADE_OF_DATA.get(stage)
        return self._kinds(kind.options(kind.entry(self.config, wildcards)[0])) if kind else {}

    def _kinds(self, definition):
        return self.schema["$defs"][definition]["properties"]

    def code(self, stage):
        """Digest of the job's script and plug-ins with everything of ours that they import."""
        return lambda wildcards: self._digest(self.scripts, *self.modules(stage, wildcards))

    def modules(self, stage, wildcards):
        """The script and the plug-ins that a job names; what they import is found from there."""
        if stage in STAGES:
            return [stage, *self._point(wildcards, stage).modules]
        if stage == "measure":
            return [stage, f"carryover.measures.{wildcards.measure}"]
        if stage == "collect":
            labels = coordinate_labels.module(self.config["experiments"][wildcards.experiment]["family"], self.scripts)
            select = f"carryover.measures.{wildcards.measure}" if self.selects(wildcards.measure) else None
            return [stage, *filter(None, (select, labels))]
        if stage == "curve":
            return [stage, f"carryover.curves.{wildcards.curve}"]
        kind = MADE_OF_DATA.get(stage)
        if kind and kind.plugins:
            return [stage, f"carryover.{kind.plugins}.{kind.entry(self.config, wildcards)[0]}"]
        return [stage]

    def _beside(self):
        """{what it is: file} of the tables of claims that stand beside the one that is made."""
        return {name: file for name, file in self.config.get("claims_beside", {}).items() if file}

    def resource(self, name):
        """A resource that the experiment asks for in its jobs (`resources: {gpu: 1, mem_mb: 4000}`).

        Memory and time double with every attempt: a job that ran out of them may then fit.
        """

        def resource(wildcards, attempt):
            asked = self.config["experiments"][wildcards.experiment].get("resources", {})
            value = asked.get(name, self._default("resources")[name])
            return value if name == "gpu" else value * 2 ** (attempt - 1)

        return resource

    def selects(self, measure):
        """Whether a measure picks what training has left in a shard, so that it needs no job before `collect`."""
        return self.schema["$defs"][f"measures.{measure}"].get("selects", False)

    def _measured(self, experiment, measure):
        """The finetuned points to which a measure applies: all, unless its plug-in says otherwise."""
        fits, where = self.schema["$defs"][f"measures.{measure}"], f"experiments.{experiment}.measures.{measure}"
        family, applies_to = self.config["experiments"][experiment]["family"], fits.get("applies_to", {})
        if family not in fits.get("families", [family]):
            raise SweepError(f"{where} is of networks of {' or '.join(fits['families'])}, not of {family}.")
        points = {name: point for name, point in self.points(experiment, STAGES[-1]).items()
                  if applies(applies_to, point.axes)}  # fmt: skip
        if not points:
            raise SweepError(f"{where} applies to no job of this experiment.")
        defaults = {name: kind["default"] for name, kind in self._kinds(f"{family}.{STAGES[-1]}").items()}
        if not all(applies(fits.get("needs", {}), defaults | point.values) for point in points.values()):
            raise SweepError(f"{where} asks of {STAGES[-1]} that {in_words(fits['needs'])}.")
        return points

    def _default(self, key):
        schema = self.schema["$defs"]["experiment"]["properties"][key]
        return schema.get("default", {k: v["default"] for k, v in schema.get("properties", {}).items()})

    def _point(self, wildcards, stage):
        points = self.points(wildcards.experiment, stage)
        if wildcards.point not in points:
            known = ", ".join(points) or "none"
            raise SweepError(f"{wildcards.experiment} has no {stage} point {wildcards.point}; it has: {known}.")
        return points[wildcards.point]
