"""What each change alone does to the verdicts on every artefact of a finished project, exactly: no alarm elsewhere."""

from dataclasses import dataclass, field

import mutations as m
import pytest

from carryover import environment, provenance, startup
from carryover.audit import verdicts
from carryover.errors import UserError
from workflow.small_project import DESCENT, EXACT

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]

PRETRAINED = "results/tiny/pretrain/solver~exact/0.nc"
CURVE = "results/theory/relu_penalty.nc"
RISK, SPARSITY = "results/tiny/risk.nc", "results/tiny/sparsity.nc"


def measured(finetuned, measure, block=0):
    return finetuned.replace("/finetune/", f"/measure/{measure}/", 1).replace("/0.nc", f"/{block}.nc")


def figure(name):
    return [f"results/figures/{name}.{suffix}" for suffix in ("png", "svg", "pdf")]


RISKS = [measured(EXACT, "risk"), measured(DESCENT, "risk")]
SPARSITIES = [measured(EXACT, "sparsity"), measured(DESCENT, "sparsity")]
FIGURE, THEORY_FIGURE = figure("tiny_risk"), figure("relu_penalty")
AFTER_RISK = [RISK, *FIGURE]
AFTER_MEASURES = [SPARSITY, *AFTER_RISK]
AFTER_EXACT = [RISKS[0], SPARSITIES[0], *AFTER_MEASURES]
AFTER_DESCENT = [RISKS[1], SPARSITIES[1], *AFTER_MEASURES]
TRAINED = [PRETRAINED, EXACT, DESCENT]
AFTER_TRAINING = [*RISKS, *SPARSITIES, *AFTER_MEASURES]
ALL = [*TRAINED, *AFTER_TRAINING, CURVE, *THEORY_FIGURE]
NEW_BLOCK = [path.replace("/0.nc", "/1.nc") for path in (*TRAINED, *RISKS, *SPARSITIES)]
STYLE, RULE = "config/figures.mplstyle", "rules/curve.smk"


@dataclass
class Row:
    """What is changed, {verdict: artefacts} of all that is not OK then, and words that say so."""

    name: str
    change: object
    expected: dict = field(default_factory=dict)
    says: str = ""


def change_rate(config):
    m.finetune(config)["learning_rate"] = 0.03


def swap_values(config):
    grid = m.finetune(config)
    grid["learning_rate"], grid["initial_scale"] = grid["initial_scale"], grid["learning_rate"]


def change_what_nothing_reads(config):
    config["experiments"]["tiny"]["resources"] = {"mem_mb": 4000}
    config["figures"]["tiny_risk"] |= {"caption": "Other words.", "category": "another"}


def forget_theory(config):
    del config["curves"], config["figures"]["relu_penalty"]


def set_seeds(seeds):
    return m.configure(lambda config: config["experiments"]["tiny"].update(seeds=seeds))


def pretrain_on(samples):
    return m.configure(lambda config: config["experiments"]["tiny"]["pretrain"].update(samples=samples))


TABLE = [
    Row("nothing but a moved folder", lambda project: None),
    Row("a clone with the results copied", m.clone),
    Row("touched files", m.touch),
    Row("comments, docstrings and layout", m.new_words),
    Row("what no job reads in the configuration", m.configure(change_what_nothing_reads)),
    Row("what is no result", m.no_results),
    Row("a folder that is a link", m.link("results/tiny/finetune")),
    Row("another configuration's results inside", m.copy_theory("results/paper")),
    Row(
        "a record that would have a folder of ours passed over",
        m.copy_theory("results/tiny"),
        {"STALE-CONFIG": ["results/tiny/theory/relu_penalty.nc"], "UNRECORDED": ["results/tiny/logs/a.log"]},
        "no job makes it any more",
    ),
    Row(
        "a directly imported module",
        m.replace(m.RISK, "return data[[*names,", "return 1.0 * data[[*names,"),
        {"STALE-CODE": RISKS, "DOWNSTREAM-OF": AFTER_RISK},
        "scripts/carryover/measures/risk.py has changed",
    ),
    Row(
        "a module that a module imports",
        m.replace("scripts/carryover/training/descent.py", "_INSPECT = 50", "_INSPECT = 49"),
        {"STALE-CODE": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        "scripts/carryover/training/descent.py has changed",
    ),
    Row(
        "a script",
        m.append("scripts/measure.py", "\nNEW = 1\n"),
        {"STALE-CODE": [*RISKS, *SPARSITIES], "DOWNSTREAM-OF": AFTER_MEASURES},
        "scripts/measure.py has changed",
    ),
    Row(
        "a parameter",
        m.configure(change_rate),
        {"STALE-CONFIG": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        "learning_rate 0.02, now 0.03",
    ),
    Row(
        "two parameters that swap values",
        m.configure(swap_values),
        {"STALE-CONFIG": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        "initial_scale 0.1, now 0.02; learning_rate 0.02, now 0.1",
    ),
    Row(
        "a parameter of pretraining",
        pretrain_on(20),
        {"STALE-CONFIG": [PRETRAINED], "DOWNSTREAM-OF": [EXACT, *AFTER_EXACT]},
        "samples 16, now 20",
    ),
    Row(
        "one seed fewer",
        set_seeds(1),
        {"STALE-CONFIG": TRAINED, "DOWNSTREAM-OF": AFTER_TRAINING},
        "seeds 0 1, now 0",
    ),
    Row(
        "more seeds",
        set_seeds(3),
        {"MISSING": NEW_BLOCK, "STALE-CONFIG": [RISK, SPARSITY], "DOWNSTREAM-OF": FIGURE},
        "it was made of other shards",
    ),
    Row(
        "an entry that is gone",
        m.configure(forget_theory),
        {"STALE-CONFIG": [CURVE, *THEORY_FIGURE]},
        "no job makes it any more",
    ),
    Row(
        "the command of a rule",
        m.replace(RULE, "{params.flags:q}", "{params.flags:q} --points 12"),
        {"STALE-CONFIG": [CURVE], "DOWNSTREAM-OF": THEORY_FIGURE},
        "rules/curve.smk has another command",
    ),
    Row(
        "one value of an intermediate result",
        m.on(EXACT, m.one_value),
        {"ALTERED": [EXACT], "DOWNSTREAM-OF": AFTER_EXACT},
        "sha256",
    ),
    Row("one bit of it", m.on(EXACT, m.one_bit), {"ALTERED": [EXACT], "DOWNSTREAM-OF": AFTER_EXACT}, "sha256"),
    Row("one bit of a figure", m.on(FIGURE[1], m.one_bit), {"ALTERED": [FIGURE[1]]}, "sha256"),
    Row("another compression", m.on(EXACT, m.recode), {}, "re-encoded: other bytes, same content"),
    Row(
        "an older file in the place of an input",
        m.on(STYLE, m.older),
        {"STALE-INPUT": [*FIGURE, *THEORY_FIGURE]},
        f"{STYLE} is not the one it was made of",
    ),
    Row("no input", m.delete(STYLE), {"STALE-INPUT": [*FIGURE, *THEORY_FIGURE]}, f"{STYLE} is missing"),
    Row("no result", m.delete(RISKS[0]), {"MISSING": RISKS[:1], "DOWNSTREAM-OF": AFTER_RISK}, "no file"),
    Row("no record", m.delete(f"{EXACT}.json"), {"UNRECORDED": [EXACT], "DOWNSTREAM-OF": AFTER_EXACT}, "no record"),
    Row("results without records", m.delete("results/**/*.json"), {"UNRECORDED": ALL}, "no record"),
    Row(
        "a file that no job makes",
        m.append("results/tiny/mine.csv", "1\n"),
        {"UNRECORDED": ["results/tiny/mine.csv"]},
        "no record, and no job makes it",
    ),
    Row(
        "a damaged record",
        m.on(f"{RISK}.json", lambda path: path.write_text(path.read_text()[:500])),
        {"UNRECORDED": [RISK], "DOWNSTREAM-OF": FIGURE},
        "truncated or damaged",
    ),
    Row(
        "a record without a part",
        m.record(RISK, lambda record: record.pop("code")),
        {"UNRECORDED": [RISK], "DOWNSTREAM-OF": FIGURE},
        "lacks parts of a record",
    ),
    Row(
        "an edited record",
        m.record(DESCENT, lambda record: record["parameters"].update(learning_rate=1.0)),
        {"ALTERED": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        "0.nc.json has been edited",
    ),
    Row(
        "a record whose sources are not those of its digest",
        m.both(
            m.replace("scripts/carryover/curves/relu_penalty.py", "def compute(", "NEW = 1\n\n\ndef compute("),
            m.claim_present_sources(CURVE),
        ),
        {"STALE-CODE": [CURVE], "DOWNSTREAM-OF": THEORY_FIGURE},
        "the code's digest is not that of the files",
    ),
    Row(
        "an edited result with a record that fits",
        m.forge(RISKS[0]),
        {"STALE-INPUT": [RISK], "DOWNSTREAM-OF": FIGURE},
        f"{RISKS[0]} is not the one it was made of",
    ),
    Row(
        "two results that swap places",
        m.swap(*RISKS),
        {"UNRECORDED": RISKS, "DOWNSTREAM-OF": AFTER_RISK},
        "is the record of",
    ),
    Row("another package here", {"tqdm": "9.9"}, {"STALE-ENV": TRAINED}, ", now 9.9"),
    Row("a package that is not here", {"tqdm": None}),
    Row(
        "another version in the lock file",
        m.replace("envs/lock.txt", "\ntqdm==", "\ntqdm==9.9 # not "),
        {"STALE-ENV": TRAINED},
        "and envs/lock.txt asks for ==9.9",
    ),
    Row(
        "another version in a conda environment",
        m.both(
            m.record(CURVE, lambda record: record["environment"].update(conda=True)),
            m.replace("envs/analysis.yaml", "- numpy", "- numpy=1.26"),
            m.append("envs/analysis.yaml", "# A comment.\n"),
        ),
        {"STALE-ENV": [CURVE]},
        "and envs/analysis.yaml asks for =1.26",
    ),
    Row(
        "comments in environment files",
        m.both(*(m.append(f"envs/{file}", "# words\n") for file in ("lock.txt", "analysis.yaml"))),
    ),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_change_alone(row, project, monkeypatch):
    if isinstance(row.change, dict):
        here = {**environment.installed_versions(), **row.change}
        here = {name: version for name, version in here.items() if version}
        monkeypatch.setattr(environment, "installed_versions", lambda: here)
    else:
        row.change(project)
    findings = project.findings()
    expected = {path: verdict for verdict, paths in row.expected.items() for path in paths}
    assert {path: found.verdict for path, found in findings.items() if found.verdict != "OK"} == expected
    assert findings.keys() == {*ALL, *expected}
    said = [text for found in findings.values() for text in (found.cause, *found.remarks)]
    assert any(row.says in text for text in said)


def test_the_cause_of_what_is_downstream_is_its_source(project):
    (project.folder / PRETRAINED).unlink()
    findings = project.findings()
    assert {findings[path].cause for path in (EXACT, *AFTER_EXACT)} == {PRETRAINED}


def test_what_is_made_on_demand_is_a_result_where_it_is(project):
    made = project.audit().chain.made
    words, path = startup.words(made, "crate", {}), "results/crate.zip"
    command = ["scripts/crate.py", *words, "--output", path]
    with provenance.Job(rule="crate", inputs=words, outputs=[path], modules=["crate"], command=command) as job:
        job.path(path).write_text("zipped")
    assert (project.verdicts(), project.findings()[path].rule) == ({}, "crate")
    m.on(FIGURE[1], m.one_bit)(project)
    assert project.verdicts() == {FIGURE[1]: "ALTERED", path: "DOWNSTREAM-OF"}
    m.delete(path)(project)
    m.delete(f"{path}.json")(project)
    assert path not in project.findings()


def test_many_sources_are_counted(project, monkeypatch):
    m.delete("results/tiny/measure/**/*.nc")(project)
    assert project.findings()[RISK].cause == "; ".join(sorted(RISKS))
    monkeypatch.setattr(verdicts, "NAMED", 1)
    assert project.findings()[RISK].cause == f"{min(RISKS)}; and 1 more"


def test_records_that_name_each_other_as_inputs(project):
    m.record(EXACT, lambda record: record["inputs"].update({RISKS[0]: {"sha256": "0", "bytes": 1}}))(project)
    with pytest.raises(UserError, match=r"records name each other as inputs: results/tiny/.*, results/tiny/"):
        project.findings()
