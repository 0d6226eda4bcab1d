"""Rows of the table in mutation_table.py, and what it is made of: changes of code and configuration."""

from dataclasses import dataclass, field

import numpy as np

from toy.small_project import DESCENT, EXACT
from workflow import mutations as m

PRETRAINED = "results/tiny/pretrain/solver~exact/0.nc"
CURVE = "results/theory/relu_penalty.nc"
RISK, SPARSITY = "results/tiny/risk.nc", "results/tiny/sparsity.nc"
STYLE, RULE = "config/figures.mplstyle", "rules/curve.smk"


def figure(name):
    return [f"results/figures/{name}.{suffix}" for suffix in ("png", "svg", "pdf")]


SPARSITIES = [shard.replace("/finetune/", "/measure/sparsity/", 1) for shard in (EXACT, DESCENT)]
FIGURE, THEORY_FIGURE = figure("tiny_risk"), figure("relu_penalty")
COLLECTED = [RISK, SPARSITY, *FIGURE]  # with what is made of it
AFTER_EXACT = [SPARSITIES[0], *COLLECTED]
AFTER_DESCENT = [SPARSITIES[1], *COLLECTED]
TRAINED = [PRETRAINED, EXACT, DESCENT]
AFTER_TRAINING = [*SPARSITIES, *COLLECTED]
ALL = [*TRAINED, *AFTER_TRAINING, CURVE, *THEORY_FIGURE]
NEW_BLOCK = [path.replace("/0.nc", "/1.nc") for path in (*TRAINED, *SPARSITIES)]


def add_diagnosis(project):
    """Activations of a network, and an entry that asks for their diagnosis."""
    for name in ("before", "after"):
        np.savez(project.folder / f"{name}.npz", fc=np.eye(40, 3))
    m.put("diagnoses", value={"mine": {"data": {"pretrained": "before.npz", "finetuned": "after.npz"}}})(project)


@dataclass
class Row:
    """A change, with what follows from it alone.

    `verdicts`: {verdict: artefacts} of all that is not OK in an audit. `says`: words of the cause of each of them that
    is not DOWNSTREAM-OF, by verdict where they differ; of a remark where all is OK.
    `reruns`: {rule: number of jobs} of Snakemake's dry run. `refused`: instead of all this, what both say of it.
    """

    name: str
    change: object
    verdicts: dict = field(default_factory=dict)
    reruns: dict = field(default_factory=dict)
    says: str | dict = ""
    refused: str = ""


AFTER_TRAINING_AGAIN = {"measure": 1, "collect": 2, "figure": 1}
DESCENT_AGAIN = {"finetune": 1, **AFTER_TRAINING_AGAIN}

NOTHING = [
    Row("the folder moved", lambda project: None),
    Row("a clone, with results and Snakemake's metadata copied", m.clone),
    Row("a clone, with results but no metadata copied, their times kept", m.without_metadata),
    Row(
        "a clone, with results but no metadata copied, inputs after what was made of them",
        m.both(m.without_metadata, m.inputs_last),
        {},
        {"finetune": 1, "measure": 2, "collect": 2, "figure": 2},
    ),
    Row("every file touched, in any order", m.touch),
    Row("comments, docstrings and layout of source files", m.new_words),
    Row("help texts, annotations and the words of errors in source files", m.what_no_result_takes),
    Row("keys in another order, captions, resources", m.configure(m.change_what_nothing_reads)),
    Row("defaults written out, 1 for 1.0, grids and a curve's keys reversed", m.configure(m.ask_for_the_same)),
    Row("logs, benchmarks, saved states, temporary files and a signature added", m.no_results),
    Row("a folder moved away, with a link in its place", m.link("results/tiny/finetune")),
    Row("another configuration's results put inside", m.copy_theory("results/paper")),
]
CODE = [
    Row(
        "a module that a job imports",
        m.replace(m.RISK, "return data[[*names,", "return 1.0 * data[[*names,"),
        {"STALE-CODE": [RISK], "DOWNSTREAM-OF": FIGURE},
        {"collect": 1, "figure": 1},
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
        {"STALE-CODE": SPARSITIES, "DOWNSTREAM-OF": [SPARSITY]},
        {"measure": 2, "collect": 1},
        "scripts/measure.py has changed",
    ),
    Row(
        "how figures write a coordinate",
        m.replace("scripts/carryover/workflow/coordinate_labels.py", '"rescaling"', '"factor on the weights"'),
        {"STALE-CODE": [RISK, SPARSITY], "DOWNSTREAM-OF": FIGURE},
        {"collect": 2, "figure": 1},
        "scripts/carryover/workflow/coordinate_labels.py has changed",
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
        "rules/curve.smk has another command: points 11, now 12",
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
        "title Risk against samples, now Another title",
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
        {"pretrain": 1, "finetune": 2, "measure": 2, "collect": 2, "figure": 1},
        "seeds 0 1, now 0",
    ),
    Row(
        "one seed more, in a block of its own",
        m.put("experiments", "tiny", "seeds", value=3),
        {"MISSING": NEW_BLOCK, "STALE-CONFIG": [RISK, SPARSITY], "DOWNSTREAM-OF": FIGURE},
        {"pretrain": 1, "finetune": 2, "measure": 2, "collect": 2, "figure": 1},
        {"MISSING": "no file", "STALE-CONFIG": "it was made of other shards: 2 added, the first results/tiny/"},
    ),
    Row(
        "a network to diagnose added",
        add_diagnosis,
        {"MISSING": [f"results/diagnoses/mine/diagnosis.{suffix}" for suffix in ("nc", "png", "html")]},
        {"diagnose": 1},
        "no file",
    ),
    Row(
        "an entry taken out",
        m.configure(m.forget_theory),
        {"STALE-CONFIG": [CURVE, *THEORY_FIGURE]},
        {},
        "no job makes it any more",
    ),
]
