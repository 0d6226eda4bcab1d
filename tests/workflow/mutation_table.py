"""What each change alone does to a finished project: to the audit's verdicts, and to what Snakemake would run again.

`TABLE` is read by the tests of both, and written into docs/audit.md by mutation_page.py.
"""

from importlib.metadata import version

from toy.small_project import DESCENT, EXACT
from workflow import file_changes
from workflow import mutations as m
from workflow.mutation_rows import (
    AFTER_DESCENT,
    AFTER_EXACT,
    AFTER_TRAINING_AGAIN,
    ALL,
    CODE,
    CONFIGURATION,
    CURVE,
    FIGURE,
    NOTHING,
    PRETRAINED,
    RISK,
    SPARSITIES,
    SPARSITY,
    STYLE,
    THEORY_FIGURE,
    TRAINED,
    Row,
)  # fmt: skip

TQDM = version("tqdm")  # of the jobs as well, which ran with this Python
TARGETS_AGAIN = {"collect": 2, "curve": 1, "figure": 2}
RESULTS = [
    Row(
        "one value of a result, with size and time kept",
        m.on(EXACT, file_changes.one_value),
        {"ALTERED": [EXACT], "DOWNSTREAM-OF": AFTER_EXACT},
        {},
        "sha256",
    ),
    Row(
        "one bit of a result, with size and time kept",
        m.on(EXACT, file_changes.one_bit),
        {"ALTERED": [EXACT], "DOWNSTREAM-OF": AFTER_EXACT},
        {},
        "sha256",
    ),
    Row(
        "one bit of a figure, with size and time kept",
        m.on(FIGURE[1], file_changes.one_bit),
        {"ALTERED": [FIGURE[1]]},
        {},
        "sha256",
    ),
    Row(
        "a result compressed otherwise",
        m.on(EXACT, file_changes.recode),
        {},
        AFTER_TRAINING_AGAIN,
        "re-encoded: other bytes, same content",
    ),
    Row(
        "an edited result with a record that fits",
        m.forge(EXACT),
        {"STALE-INPUT": [SPARSITIES[0], RISK], "DOWNSTREAM-OF": [SPARSITY, *FIGURE]},
        {},
        f"{EXACT} is not the one it was made of",
    ),
    Row(
        "two results that swap places, with their records",
        m.swap(*SPARSITIES),
        {"UNRECORDED": SPARSITIES, "DOWNSTREAM-OF": [SPARSITY]},
        {"collect": 1},
        "is the record of",
    ),
    Row(
        "a result deleted",
        m.delete(EXACT),
        {"MISSING": [EXACT], "DOWNSTREAM-OF": AFTER_EXACT},
        {},
        "no file",
    ),
    Row(
        "a figure deleted",
        m.delete(FIGURE[1]),
        {"MISSING": [FIGURE[1]]},
        {"figure": 1},
        "no file",
    ),
    Row(
        "a file that no job makes",
        m.append("results/tiny/mine.csv", "1\n"),
        {"UNRECORDED": ["results/tiny/mine.csv"]},
        {},
        "no record, and no job makes it",
    ),
    Row(
        "an input replaced by another, of an older time",
        m.on(STYLE, file_changes.older),
        {"STALE-INPUT": [*FIGURE, *THEORY_FIGURE]},
        {},
        f"{STYLE} is not the one it was made of",
    ),
    Row(
        "an input edited",
        m.append(STYLE, "axes.grid: True\n"),
        {"STALE-INPUT": [*FIGURE, *THEORY_FIGURE]},
        {"figure": 2},
        f"{STYLE} is not the one it was made of",
    ),
    Row(
        "an input deleted",
        m.delete(STYLE),
        {"STALE-INPUT": [*FIGURE, *THEORY_FIGURE]},
        {},
        f"{STYLE} is missing",
    ),
    Row(
        "an input replaced while a job reads it: the job fails and names it",
        m.replaced_during(EXACT, PRETRAINED),
        {"ALTERED": [PRETRAINED], "DOWNSTREAM-OF": [EXACT, *AFTER_EXACT]},
        {"finetune": 1, **AFTER_TRAINING_AGAIN},
        "sha256",
    ),
]
RECORDS = [
    Row(
        "a record of what is made on the way deleted",
        m.delete(f"{EXACT}.json"),
        {"UNRECORDED": [EXACT], "DOWNSTREAM-OF": AFTER_EXACT},
        {},
        "no record",
    ),
    Row(
        "a record of a collected dataset deleted",
        m.delete(f"{RISK}.json"),
        {"UNRECORDED": [RISK], "DOWNSTREAM-OF": FIGURE},
        {"collect": 1, "figure": 1},
        "no record",
    ),
    Row(
        "results copied without their records",
        m.delete("results/**/*.json"),
        {"UNRECORDED": ALL},
        TARGETS_AGAIN,
        "no record",
    ),
    Row(
        "a damaged record",
        m.on(f"{RISK}.json", lambda path: path.write_text(path.read_text()[:500])),
        {"UNRECORDED": [RISK], "DOWNSTREAM-OF": FIGURE},
        {},
        "truncated or damaged",
    ),
    Row(
        "a record without a part",
        m.record(RISK, lambda record: record.pop("code")),
        {"UNRECORDED": [RISK], "DOWNSTREAM-OF": FIGURE},
        {},
        "lacks parts of a record",
    ),
    Row(
        "an edited record",
        m.edit(DESCENT, lambda record: record["parameters"].update(learning_rate=1.0)),
        {"ALTERED": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        {},
        "0.nc.json has been edited: it is not what its request says",
    ),
    Row(
        "an edited record: the commit",
        m.edit(DESCENT, lambda record: record.update(git={"commit": "0" * 40, "dirty": False})),
        {"ALTERED": [DESCENT], "DOWNSTREAM-OF": AFTER_DESCENT},
        {},
        "0.nc.json has been edited: it is not what its checksum says",
    ),
    Row(
        "another module, and a record that claims it",
        m.both(
            m.replace("scripts/carryover/curves/relu_penalty.py", "def compute(", "NEW = 1\n\n\ndef compute("),
            m.claim_present_sources(CURVE),
        ),
        {"STALE-CODE": [CURVE], "DOWNSTREAM-OF": THEORY_FIGURE},
        {"curve": 1, "figure": 1},
        "the code's digest is not that of the files",
    ),
    Row(
        "a record that claims results/tiny for another configuration",
        m.copy_theory("results/tiny"),
        {"STALE-CONFIG": ["results/tiny/theory/relu_penalty.nc"], "UNRECORDED": ["results/tiny/logs/a.log"]},
        {},
        {"STALE-CONFIG": "no job makes it any more", "UNRECORDED": "no record, and no job makes it"},
    ),
]
SOFTWARE = [
    Row(
        "another version of a package installed",
        m.installed("tqdm", "9.9"),
        {"STALE-ENV": TRAINED},
        {},
        f"tqdm {TQDM}, now 9.9",
    ),
    Row("a package that is not installed here", m.loaded_also("absent", "1.0", *TRAINED)),
    Row(
        "another version in the lock file",
        m.replace("envs/lock.txt", "\ntqdm==", "\ntqdm==9.9 # not "),
        {"STALE-ENV": TRAINED},
        {},
        f"tqdm {TQDM}, and envs/lock.txt asks for ==9.9",
    ),
    Row(
        "another version in an environment file, of a job that ran in conda",
        m.both(
            m.record(CURVE, lambda record: record["environment"].update(conda=True)),
            m.replace("envs/analysis.yaml", "- numpy", "- numpy=1.26"),
            m.append("envs/analysis.yaml", "# A comment.\n"),
        ),
        {"STALE-ENV": [CURVE]},
        {},
        f"numpy {version('numpy')}, and envs/analysis.yaml asks for =1.26",
    ),
    Row(
        "comments in environment files",
        m.both(*(m.append(f"envs/{file}", "# words\n") for file in ("lock.txt", "analysis.yaml"))),
    ),
]
TABLE = [*NOTHING, *CODE, *CONFIGURATION, *RESULTS, *RECORDS, *SOFTWARE]
