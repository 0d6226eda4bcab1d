"""The jobs of a configuration: for each its inputs, flags, parameters, modules and key.

One function for each kind of entry of the configuration makes its jobs, and refuses what they cannot do (UserError).
Arguments are the same throughout: `sweep` is the `Sweep`; `spec` or `entry` is a section of the configuration, a model
of `config.configuration`, and `name` or `experiment` its key; `where` is its path, for messages. The Snakefile imports
this module, so it imports nothing large.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from carryover import archive
from carryover.config import claims, parameters, plugins
from carryover.config.artifacts import ARTIFACTS, DATA_FILES, FORMATS, ON_DEMAND, STAGES
from carryover.config.configuration import check_known
from carryover.config.parameters import applies, as_flags, in_words
from carryover.errors import UserError
from carryover.provenance.job_record import json_digest, plain
from carryover.workflow.command_line import ALSO


@dataclass(eq=False)
class Request:
    """One job of a `Sweep`."""

    sweep: Any
    rule: str
    wildcards: dict
    output: str  # its result; of several formats, the first
    inputs: list = field(default_factory=list)  # results of other jobs, and files from outside, as on the command line
    parameters: Any = field(default_factory=dict)  # all, with their defaults, as the record of the job stores them
    flags: list = field(default_factory=list)  # what differs from the defaults, the same for all equal requests
    modules: list = field(default_factory=list)  # plug-ins; then also the script and data files that the rule reads
    pins: dict = field(default_factory=dict)  # {module: version that is declared in place of its code}
    named_files: list = field(default_factory=list)  # that the job reads besides its inputs
    seeds: list = field(default_factory=list)  # of a training job
    record: dict | None = None  # of an archived dataset, its record in the archive
    paper: str = ""  # category of a figure or table in Snakemake's own report
    labels: dict = field(default_factory=dict)  # its labels there

    def __post_init__(self):
        self.modules = [self.rule, *DATA_FILES.get(self.rule, ()), *self.modules]

    @property
    def outputs(self):
        """All its results, one for each format."""
        return [Path(self.output).with_suffix(suffix).as_posix() for suffix in self.sweep.formats(self.rule)]

    @property
    def code(self):
        return self.sweep.code_digest(*self.modules)

    @cached_property
    def key(self):
        """A digest over all that determines the result: rule, code, flags, all parameters, the content of files from
        outside, and the keys of the jobs upstream. A declared version stands for a plug-in's code and defaults.

        Snakemake deletes the outputs of a job that it runs again, and does not restore them where the job fails. The
        results downstream stay, and their keys tell that they were made of something else.
        """
        jobs, sha256 = self.sweep.jobs, self.sweep.sha256
        upstream = [jobs[path].key if path in jobs else sha256(path) for path in self.inputs]
        named = [sha256(file) for file in self.named_files]
        code = self.sweep.code_digest(*(module for module in self.modules if module not in self.pins))
        parameters = self.pins or plain(self.parameters)
        return json_digest([self.rule, code, self.flags, parameters, named, upstream])


def all_requests(sweep):
    """Every job of a `Sweep`, each after the jobs that it depends on; UserError for a wrong configuration."""
    typed, requests = sweep.typed, []
    for name, spec in typed.experiments.items():
        requests += _experiment(sweep, name, spec)
    for curve, options in typed.curves.items():
        plugin = _plugin("theory.curves", curve, options, f"curves.{curve}")
        requests.append(Request(sweep, "curve", {"curve": curve}, f"{sweep.results}/theory/{curve}.nc", **plugin))
    for rule, kind in ARTIFACTS.items():
        requests += [_artifact(sweep, rule, name, entry) for name, entry in getattr(typed, kind.section).items()]
        if rule == "check_claims" and typed.claims:
            # The table of all claims, with the verdicts of other configurations.
            others = {name: sweep.file(file) for name, file in typed.other_claims.items() if file}
            groups = [f"{sweep.results}/claims/{group}.nc" for group in sorted(typed.claims)]
            flags = as_flags({"others": [f"{name}={file}" for name, file in others.items()]}) if others else []
            output, named = f"{sweep.results}/claims.nc", list(others.values())
            requests.append(Request(sweep, "claims_table", {}, output, groups, flags=flags, named_files=named))
    results = [request.output for request in requests]
    sections = {section: sweep.config.get(section, {}) for section in ("papers", "figures", "tables")}
    for rule in ON_DEMAND:
        requests.append(Request(sweep, rule, {}, f"{sweep.results}/{rule}{FORMATS[rule][0]}", results, sections))
    return requests


def _plugin(folder, name, options, where, named=None):
    """{field of `Request`: value}: parameters, flags, modules and pins of the plug-in `name` in the folder `folder`.

    `options` is the section at `where` in the configuration; `named` is the path of the key that names the plug-in,
    where that is another.
    """
    there, file = plugins.names(folder), plugins.LIBRARY.joinpath(*folder.split("."), f"{name}.py")
    if name not in there and file.is_file():
        raise UserError(f"{named or where}: {file.name} declares no plug-in {name}; docs/extending.md shows how to.")
    check_known(name, there, named or where)
    plugin = plugins.find(folder, name)
    p = parameters.read(plugin.model, options, f"configuration: {where}.")
    pins = {plugin.code: plugin.version} if plugin.version else {}
    return {"parameters": p, "flags": [name, *as_flags(p)], "modules": [plugin.code], "pins": pins}


def _experiment(sweep, name, spec):
    """Requests for training, measuring and collecting; an archived dataset is unpacked instead."""
    where = f"experiments.{name}.measures"
    if spec.paper:
        check_known(spec.paper, sweep.typed.papers, f"experiments.{name}.paper")
    measures = {key: _plugin("measures", key, options, f"{where}.{key}") for key, options in spec.measures.items()}
    trained = [measure for measure in measures if sweep.mismatch(name, measure)]
    # Without measures, training is what is asked for.
    for stage in STAGES if trained or not measures else ():
        yield from _training(sweep, name, spec, stage)
    for measure, plugin in measures.items():
        if measure in trained:
            yield from _collect_requests(sweep, name, spec, measure, plugin)
        else:
            packed, dataset = archive.path(sweep.archive, name, measure), f"{name}/{measure}"
            record = archive.record(packed)
            p = {"sha256": record["unpacked"]["sha256"], "commit": record["commit"]}
            output, flags = f"{sweep.results}/{dataset}.nc", ["--sha256", p["sha256"]]
            inputs, wildcards = [packed.as_posix()], {"dataset": dataset}
            yield Request(sweep, "unarchive", wildcards, output, inputs, p, flags, record=record)


def _training(sweep, experiment, spec, stage):
    """The jobs of a `stage` of training of an experiment, `spec` in the configuration: each trains one batch of points
    for one block of seeds.

    The points of a batch start from one source, or from scratch; `point` is the batch's name in paths. On the command
    line `ALSO` stands before each point but the first. A declared version takes the place of the code of the modules.
    """
    folder, batches = f"{sweep.results}/{experiment}", sweep.batches[experiment][stage]
    family = f"carryover.families.{spec.family}"
    common_modules = [f"{family}.{module}" for module in (stage, "solvers")]
    version = str(plugins.model_of(f"families.{spec.family}", stage).VERSION)
    _check_solvers(sweep, spec.family, batches)
    for (point, batch), (block, seeds) in product(batches.items(), sweep.blocks(experiment).items()):
        points = [member.parameters for member in batch]
        forecast = any(getattr(p, "forecast", False) for p in points)
        modules = [*common_modules, *[f"{family}.views", "carryover.families.forecasts"] * forecast]
        sources = [member.source.name for member in batch if member.source]
        common = as_flags({"experiment": experiment, "seeds": list(seeds)})
        first, *others = map(as_flags, points)
        yield Request(
            sweep,
            stage,
            {"experiment": experiment, "point": point, "block": block},
            f"{folder}/{stage}/{point}/{block}.nc",
            inputs=[f"{folder}/pretrain/{source}/{block}.nc" for source in sources[:1]],
            parameters={"together": points} if others else points[0],
            flags=[spec.family, *common, *first, *(word for flags in others for word in (ALSO, *flags))],
            modules=modules,
            pins=dict.fromkeys(modules, version) if version else {},
            named_files=[file for p in points for file in parameters.input_files(p)],
            seeds=list(seeds),
        )


def _check_solvers(sweep, family, batches):
    """UserError for a solver of `batches` ({name: list of `Point`s}) that its family's file does not define; by its
    text, for it imports much."""
    file = f"carryover/families/{family}/solvers.py"
    text = (sweep.scripts / file).read_text("utf-8") if (sweep.scripts / file).is_file() else ""
    for solver in sorted({member.axes["solver"] for batch in batches.values() for member in batch}):
        if not re.search(rf"^(def {solver}\b|{solver}\b.*=|from .* import .*\b{solver}\b)", text, re.MULTILINE):
            raise UserError(f"scripts/{file} has no function {solver}, which is a solver in parameters.py.")


def _collect_requests(sweep, experiment, spec, measure, plugin):
    """The job that collects all finetuned shards and measures them; by `split`, other jobs measure them before.

    `measure` is the name of a measure, and `plugin` what `_plugin` returns for it.
    """
    folder, wildcards = f"{sweep.results}/{experiment}", {"experiment": experiment, "measure": measure}
    shards = list(product(_applicable_batches(sweep, experiment, spec, measure), sweep.blocks(experiment)))
    inputs = [f"{folder}/finetune/{point}/{block}.nc" for point, block in shards]
    p, flags, pins = {"family": spec.family}, as_flags({"family": spec.family}), {}
    modules = [f"carryover/families/{spec.family}/labels.json"]
    if measure in spec.split:
        finetuned, inputs = inputs, [f"{folder}/measure/{measure}/{point}/{block}.nc" for point, block in shards]
        for (point, block), shard, output in zip(shards, finetuned, inputs, strict=True):
            yield Request(sweep, "measure", wildcards | {"point": point, "block": block}, output, [shard], **plugin)
    else:
        p |= {"measure": measure, "options": plugin["parameters"]}
        flags, modules = [*flags, "--measure", *plugin["flags"]], [*plugin["modules"], *modules]
        pins = plugin["pins"]
    yield Request(sweep, "collect", wildcards, f"{folder}/{measure}.nc", inputs, p, flags, modules, pins)


def _applicable_batches(sweep, experiment, spec, measure):
    """Names of the finetuned batches to which a measure applies, at least in part."""
    plugin, where = plugins.find("measures", measure), f"experiments.{experiment}.measures.{measure}"
    keeps = plugins.model_of(f"families.{spec.family}", "finetune").KEEPS
    # First refuse needs that no network of the family meets, then keep the points at which each need is met.
    for names in plugin.any_of:
        if not keeps.keys() & set(names):
            there = f"networks of {spec.family} do not keep; they keep {', '.join(sorted(keeps))}"
            raise UserError(f"{where} needs {' or '.join(names)}, which {there}.")
    points = {name: [vars(point.parameters) for point in batch if applies(plugin.applies_to, vars(point.parameters))]
              for name, batch in sweep.batches[experiment]["finetune"].items()}  # fmt: skip
    if not any(points.values()):
        raise UserError(f"{where} applies where {in_words(plugin.applies_to)}, which no job of this experiment is.")
    for names in plugin.any_of:
        conditions = [keeps[name] for name in names if name in keeps]
        points = {name: [p for p in batch if any(applies(when, p) for when in conditions)]
                  for name, batch in points.items()}  # fmt: skip
        if not any(points.values()):
            kept = " or ".join(map(in_words, conditions))
            raise UserError(f"{where} needs {' or '.join(names)}, which networks of {spec.family} keep if {kept}.")
    return [name for name, batch in points.items() if batch]


def _check_coordinates(sweep, plugin, p, data, where):
    """UserError for an option with the name of a coordinate that occurs nowhere in the code of the families whose runs
    it is to select; which coordinates they have, their training alone can say.

    `plugin` is a `Plugin`, `p` its options, and `data` the references to its data, `<experiment>/<measure>`. Data of no
    experiment may have any coordinates: then nothing is refused.
    """
    named = {option: getattr(p, option) for option, about in parameters.parameter_schema(plugin.model).items()
             if about["coordinate"] and option in p.model_fields_set}  # fmt: skip
    experiments = [sweep.typed.experiments.get(reference.partition("/")[0]) for reference in data]
    if not named or not all(experiments):
        return
    library, family_folders = sweep.scripts / "carryover", {f"families/{spec.family}" for spec in experiments}
    files = [file for folder in ("families", *family_folders) for file in (library / folder).glob("*.[pj]*")]
    files.append(sweep.scripts.joinpath(*plugin.module.split(".")).with_suffix(".py"))
    words = {word for file in files for word in re.findall(r"\w+", file.read_text("utf-8"))}
    for option, value in named.items():
        for text in [value] if isinstance(value, str) else value:
            name = text.partition("=")[0].removeprefix("pretrain_")
            if name and name not in words:
                raise UserError(f"{where}.options.{option}: runs of {', '.join(data)} have no coordinate {name}.")


def _artifact(sweep, rule, name, entry):
    """The `Request` for a comparison, a group of claims, a figure or a table: the entry `name` of the section of the
    configuration whose results the Snakemake rule `rule` makes. UserError for an entry that cannot be made."""
    kind, papers = ARTIFACTS[rule], sweep.typed.papers
    where, plugin = f"{kind.section}.{name}", getattr(entry, kind.key) or name
    job = _plugin(kind.plugins, plugin, entry.options, f"{where}.options", f"{where}.{kind.key}")
    p = job["parameters"]
    declared = plugins.find(kind.plugins, plugin)
    if missing := [role for role in declared.roles or () if role not in entry.data]:
        raise UserError(f"configuration: {where}.data: {', '.join(missing)} is missing.")
    if entry.paper:
        check_known(entry.paper, papers, f"{where}.paper")
    if declared.roles is not None:
        for role in entry.data:
            check_known(role, (*declared.roles, *declared.optional_roles), f"{where}.data")
    _check_coordinates(sweep, declared, p, entry.data.values(), where)
    for claim in getattr(entry, "supported_by", ()):
        sweep.check_not_removed(f"claims/{claim.partition('/')[0]}", where)
        check_known(claim.partition("/")[0], sweep.typed.claims, f"{where}.supported_by")
    # The plug-in's name must stay the first word of the flags.
    job["flags"][1:1] = as_flags({"roles": list(entry.data)})
    if rule == "check_claims":  # an edited bound is another request
        job["parameters"] = {**dict(p), "claims": (said := claims.of_group(name))}
        if not said:
            raise UserError(f"claims.{name}: no check of it stands in claims.yaml; add what it says there.")
    items = [item.item for paper in papers.values() for item in paper.items if name in getattr(item, kind.section, ())]
    return Request(
        sweep,
        rule,
        {kind.wildcard: name},
        f"{sweep.results}/{kind.section}/{name}{sweep.formats(rule)[0]}",
        [sweep.file(ref) if Path(ref).suffix else f"{sweep.results}/{ref}.nc" for ref in entry.data.values()],
        named_files=[sweep.root / "config/figures.mplstyle"] if rule == "figure" else [],
        paper=papers[entry.paper].name if entry.paper in papers else "Carryover",
        labels={rule: name, "in the papers": "; ".join(dict.fromkeys(items))},
        **job,
    )
