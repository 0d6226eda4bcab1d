"""What each change alone does to a finished project: to the audit's verdicts, and to what Snakemake would run again."""

from dataclasses import dataclass, field

from toy.small_project import DESCENT, EXACT
from workflow import mutations as m

PRETRAINED = "results/tiny/pretrain/solver~exact/0.nc"
CURVE = "results/theory/relu_penalty.nc"
RISK, SPARSITY = "results/tiny/risk.nc", "results/tiny/sparsity.nc"
STYLE, RULE, PENALTY = "config/figures.mplstyle", "rules/curve.smk", "scripts/carryover/theory/curves/relu_penalty.py"
FIGURE, THEORY_FIGURE = (
    [f"results/figures/{name}.{suffix}" for suffix in ("png", "pdf")] for name in ("tiny_risk", "relu_penalty")
)
SPARSITIES = [shard.replace("/finetune/", "/measure/sparsity/", 1) for shard in (EXACT, DESCENT)]
COLLECTED = [RISK, SPARSITY, *FIGURE]  # with what is made of it
AFTER_EXACT = [SPARSITIES[0], *COLLECTED]
TRAINED = [PRETRAINED, EXACT, DESCENT]
AFTER_TRAINING = [*SPARSITIES, *COLLECTED]
ALL = [*TRAINED, *AFTER_TRAINING, CURVE, *THEORY_FIGURE]
NEW_BLOCK = [path.replace("/0.nc", "/1.nc") for path in (*TRAINED, *SPARSITIES)]
MEASURED_AGAIN = {"measure": 1, "collect": 2, "figure": 1}
DESCENT_AGAIN = {"finetune": 1, **MEASURED_AGAIN}
FINETUNED_AGAIN = {"finetune": 2, "measure": 2, "collect": 2, "figure": 1}
BLOCK_AGAIN = {"pretrain": 1, **FINETUNED_AGAIN}


@dataclass
class Row:
    """A change, with what follows from it alone.

    `verdicts`: {verdict: results} of all that is not OK in an audit; UPSTREAM: STALE for what is upstream alone.
    `says`: words of the cause of each of the others, by verdict where they differ.
    `reruns`: {rule: number of jobs} of Snakemake's dry run.
    """

    name: str
    change: object
    verdicts: dict = field(default_factory=dict)
    reruns: dict = field(default_factory=dict)
    says: str | dict = ""


TABLE = [
    Row("a clone, with results and Snakemake's metadata copied", m.clone),
    Row("a clone, with results but no metadata copied, their times kept", m.without_metadata),
    Row("a module that a module imports",
        m.replace("scripts/carryover/training/diagonal.py", "_INSPECT = 50", "_INSPECT = 49"),
        {"STALE": TRAINED, "UPSTREAM": AFTER_TRAINING}, BLOCK_AGAIN,
        "scripts/carryover/training/diagonal.py changed"),
    Row("a stage of a family", m.append("scripts/carryover/families/diagonal/finetune.py", "\nNEW = 1\n"),
        {"STALE": [EXACT, DESCENT], "UPSTREAM": AFTER_TRAINING}, FINETUNED_AGAIN,
        "scripts/carryover/families/diagonal/finetune.py changed"),
    Row("a script", m.append("scripts/measure.py", "\nNEW = 1\n"),
        {"STALE": SPARSITIES, "UPSTREAM": [SPARSITY]}, {"measure": 2, "collect": 1},
        "scripts/measure.py changed"),
    Row("the command of a rule", m.replace(RULE, "{params.flags:q}", "{params.flags:q} --points 12"),
        {}, {"curve": 1, "figure": 1}),
    Row("a parameter of pretraining", m.put("experiments", "tiny", "pretrain", "samples", value=20),
        {"STALE": [PRETRAINED], "UPSTREAM": [EXACT, *AFTER_EXACT]}, {"pretrain": 1, **DESCENT_AGAIN},
        "samples 16 → 20"),
    Row("one seed more, in a block of its own", m.put("experiments", "tiny", "seeds", value=3),
        {"MISSING": NEW_BLOCK, "STALE": [RISK, SPARSITY], "UPSTREAM": FIGURE}, BLOCK_AGAIN,
        {"MISSING": "no file", "STALE": "configuration: it is made of results/tiny/"}),
    Row("an entry taken out", m.configure(m.forget_theory),
        {"STALE": [CURVE, *THEORY_FIGURE]}, {}, "no job makes it"),
    Row("a result compressed otherwise", m.on(EXACT, m.recode),
        {"ALTERED": [EXACT], "UPSTREAM": AFTER_EXACT}, MEASURED_AGAIN, "sha256"),
    Row("an edited result with a record that fits", m.forge(EXACT),
        {"STALE": [SPARSITIES[0], RISK], "UPSTREAM": [SPARSITY, *FIGURE]}, {},
        f"{EXACT} is not the one it was made of"),
    Row("two results that swap places, with their records", m.swap(*SPARSITIES),
        {"ALTERED": SPARSITIES, "UPSTREAM": [SPARSITY]}, {"collect": 1}, "is the record of"),
    Row("a result deleted", m.delete(EXACT), {"MISSING": [EXACT], "UPSTREAM": AFTER_EXACT}, {}, "no file"),
    Row("results copied without their records", m.delete("results/**/*.json"),
        {"UNRECORDED": ALL}, {"collect": 2, "curve": 1, "figure": 2}, "no record"),
    Row("a damaged record", m.on(f"{RISK}.json", lambda path: path.write_text(path.read_text()[:500])),
        {"ALTERED": [RISK], "UPSTREAM": FIGURE}, {}, "truncated or damaged"),
]  # fmt: skip
