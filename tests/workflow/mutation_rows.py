"""Rows of the table in mutation_table.py, and what it is made of: changes of code and configuration."""

from dataclasses import dataclass, field

from workflow import mutations as m
from workflow.small_project import DESCENT, EXACT

PRETRAINED = "results/tiny/pretrain/solver~exact/0.nc"
CURVE = "results/theory/relu_penalty.nc"
RISK, SPARSITY = "results/tiny/risk.nc", "results/tiny/sparsity.nc"
STYLE, RULE = "config/figures.mplstyle", "rules/curve.smk"


def measured(finetuned, measure):
    return finetuned.replace("/finetune/", f"/measure/{measure}/", 1)


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


@dataclass
class Row:
    """A change, with what follows from it alone.

    `verdicts`: {verdict: artefacts} of all that is not OK in an audit, and `says`: words that it then says.
    `reruns`: {rule: number of jobs} of Snakemake's dry run. `refused`: instead of all this, what both say of it.
    """

    name: str
    change: object
    verdicts: dict = field(default_factory=dict)
    reruns: dict = field(default_factory=dict)
    says: str = ""
    refused: str = ""


AFTER_TRAINING_AGAIN = {"measure": 2, "collect": 2, "figure": 1}
DESCENT_AGAIN = {"finetune": 1, **AFTER_TRAINING_AGAIN}

NOTHING = [
    Row("the folder moved", lambda project: None),
    Row("a clone, with results and Snakemake's metadata copied", m.clone),
    Row("a clone, with results but no metadata copied, their times kept", m.without_metadata),
    Row(
        "a clone, with results but no metadata copied, inputs after what was made of them",
        m.both(m.without_metadata, m.inputs_last),
        {},
        {"finetune": 1, "measure": 4, "collect": 2, "figure": 2},
    ),
    Row("every file touched, in any order", m.touch),
    Row("comments, docstrings and layout of source files", m.new_words),
    Row("keys in another order, a default written out, captions, resources", m.configure(m.change_what_nothing_reads)),
    Row("logs, benchmarks, saved states and temporary files added", m.no_results),
    Row("a folder moved away, with a link in its place", m.link("results/tiny/finetune")),
    Row("another configuration's results put inside", m.copy_theory("results/paper")),
]
CODE = [
    Row(
        "a module that a job imports",
        m.replace(m.RISK, "return data[[*names,", "return 1.0 * data[[*names,"),
        {"STALE-CODE": RISKS, "DOWNSTREAM-OF": AFTER_RISK},
        {"measure": 2, "collect": 1, "figure": 1},
        "scripts/carryover/measures/risk.py has changed",
    ),
    Row(
        "a module that a module imports",
        m.replace("scripts/carryover/training/descent.py", "_INSPECT = 50", "_INSPECT = 49"),
        {"STALE-CODE": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        DESCENT_AGAIN,
        "scripts/carryover/training/descent.py has changed",
    ),
    Row(
        "a script",
        m.append("scripts/measure.py", "\nNEW = 1\n"),
        {"STALE-CODE": [*RISKS, *SPARSITIES], "DOWNSTREAM-OF": AFTER_MEASURES},
        {"measure": 4, "collect": 2, "figure": 1},
        "scripts/measure.py has changed",
    ),
    Row(
        "the plot of a figure",
        m.append("scripts/carryover/plotting/relu_penalty.py", "\nNEW = 1\n"),
        {"STALE-CODE": THEORY_FIGURE},
        {"figure": 1},
        "scripts/carryover/plotting/relu_penalty.py has changed",
    ),
    Row(
        "the command of a rule",
        m.replace(RULE, "{params.flags:q}", "{params.flags:q} --points 12"),
        {"STALE-CONFIG": [CURVE], "DOWNSTREAM-OF": THEORY_FIGURE},
        {"curve": 1, "figure": 1},
        "rules/curve.smk has another command",
    ),
]
CONFIGURATION = [
    Row(
        "a parameter of training",
        m.put("experiments", "tiny", "finetune", "grids", "simulated", "learning_rate", value=0.03),
        {"STALE-CONFIG": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        DESCENT_AGAIN,
        "learning_rate 0.02, now 0.03",
    ),
    Row(
        "two parameters that swap values",
        m.configure(m.swap_values),
        {"STALE-CONFIG": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        DESCENT_AGAIN,
        "initial_scale 0.1, now 0.02; learning_rate 0.02, now 0.1",
    ),
    Row(
        "a parameter of pretraining",
        m.put("experiments", "tiny", "pretrain", "samples", value=20),
        {"STALE-CONFIG": [PRETRAINED], "DOWNSTREAM-OF": [EXACT, *AFTER_EXACT]},
        {"pretrain": 1, **DESCENT_AGAIN},
        "samples 16, now 20",
    ),
    Row(
        "a parameter of a theory curve",
        m.put("curves", "relu_penalty", "points", value=12),
        {"STALE-CONFIG": [CURVE], "DOWNSTREAM-OF": THEORY_FIGURE},
        {"curve": 1, "figure": 1},
        "points 11, now 12",
    ),
    Row(
        "an option of a figure",
        m.put("figures", "tiny_risk", "options", "title", value="Another title"),
        {"STALE-CONFIG": FIGURE},
        {"figure": 1},
        "title was not given, now Another title",
    ),
    Row(
        "a parameter that no job reads",
        m.put("experiments", "tiny", "finetune", "grids", "solved", "learning_rate", value=0.1),
        refused="experiments.tiny.finetune.grids.solved.learning_rate is read only where solver is descent, which no "
        "job of this section is.",
    ),
    Row(
        "one seed fewer",
        m.put("experiments", "tiny", "seeds", value=1),
        {"STALE-CONFIG": TRAINED, "DOWNSTREAM-OF": AFTER_TRAINING},
        {"pretrain": 1, "finetune": 2, "measure": 4, "collect": 2, "figure": 1},
        "seeds 0 1, now 0",
    ),
    Row(
        "one seed more, in a block of its own",
        m.put("experiments", "tiny", "seeds", value=3),
        {"MISSING": NEW_BLOCK, "STALE-CONFIG": [RISK, SPARSITY], "DOWNSTREAM-OF": FIGURE},
        {"pretrain": 1, "finetune": 2, "measure": 4, "collect": 2, "figure": 1},
        "it was made of other shards",
    ),
    Row(
        "an entry taken out",
        m.configure(m.forget_theory),
        {"STALE-CONFIG": [CURVE, *THEORY_FIGURE]},
        {},
        "no job makes it any more",
    ),
]
