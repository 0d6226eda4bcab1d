"""Command lines of the scripts, with files of every sort."""

from grammar import HOSTILE_WORDS, SCHEMA, plain, rarely, resolved, whole_numbers
from hypothesis import strategies as st

from carryover.config import plugins
from carryover.config.artifacts import STAGES
from carryover.config.parameters import as_flags

DEFINITIONS = SCHEMA["$defs"]
SHARD = "results/tiny/finetune/protocol~single_task_solver~descent/0.nc"
PRETRAINED = "results/tiny/pretrain/solver~exact/0.nc"
FILES = [
    SHARD, PRETRAINED, "results/tiny/risk.nc", "results/tiny/sparsity.nc", "results/theory/relu_penalty.nc",
    f"{SHARD}.json", "odd/empty.nc", "odd/cut.nc", "odd/text.nc", "odd/not a number.nc", "odd/fifo.nc", "odd/folder.nc",
    "odd/nowhere.nc", "odd/link.nc", "odd/\udcff.nc", "config/config.yaml", "/dev/null",
]  # fmt: skip
OUTPUTS = [
    "made/x.nc",
    "made/x.png",
    "made/x.md",
    "made/x",
    "made/\udcff.nc",
    "made/\u00fc y.nc",
    "odd/folder.nc",
    "/dev/full",
    "",
]


def files(usual):
    return rarely(st.sampled_from(FILES), st.sampled_from(usual), 4)


def output(usual):
    return rarely(st.sampled_from([*OUTPUTS, *FILES]), st.just(usual), 6)


@st.composite
def parameters(draw, *definitions):
    """Flags of some parameters, of all that say how large something is, and now and then a word out of place."""
    words = []
    for definition in definitions:
        always = whole_numbers(definition)
        for name, kind in definition["properties"].items():
            if name in always or draw(st.integers(0, 3)) == 0:
                kind = resolved(kind)
                one = kind["anyOf"][0] if kind.get("several") == "jobs" else kind  # of an axis a job has one value
                flag, *values = as_flags({name: draw(plain(one))})
                words += [flag, *[draw(rarely(HOSTILE_WORDS, st.just(value), 40)) for value in values]]
    return words + draw(rarely(st.lists(HOSTILE_WORDS, min_size=1, max_size=2), st.just([]), 20))


@st.composite
def training(draw):
    family = draw(rarely(HOSTILE_WORDS, st.sampled_from(plugins.names("families")), 30))
    stage = draw(st.sampled_from(STAGES))
    seeds = draw(rarely(st.lists(HOSTILE_WORDS, max_size=2), st.just(["0", "1"]), 12))
    words = [f"{stage}.py", family, "--experiment", draw(rarely(HOSTILE_WORDS, st.just("tiny"), 20)), "--seeds", *seeds]
    if draw(st.booleans()):
        words += ["--pretrained", draw(files([PRETRAINED]))]
    if f"{family}.{stage}" in DEFINITIONS:
        words += draw(parameters(DEFINITIONS[f"{family}.{stage}"]))
    return [*words, "--output", draw(output("made/x.nc"))]


@st.composite
def measuring(draw):
    name = draw(st.sampled_from(plugins.names("measures")))
    words = [
        "measure.py",
        name,
        "--finetuned",
        draw(files([SHARD])),
        *draw(parameters(DEFINITIONS[f"measures.{name}"])),
    ]
    return [*words, "--output", draw(output("made/x.nc"))]


@st.composite
def collecting(draw):
    shards = draw(
        st.lists(
            files([SHARD, "results/tiny/finetune/pretrain_solver~exact_protocol~finetuning_solver~exact/0.nc"]),
            max_size=3,
        )
    )
    select = draw(st.sampled_from([[], ["--measure", "risk"], ["--measure", "trajectory"], ["--measure", "x"]]))
    family = draw(rarely(HOSTILE_WORDS, st.just("diagonal"), 12))
    return ["collect.py", *shards, "--family", family, *select, "--output", draw(output("made/x.nc"))]


@st.composite
def of_data(draw):
    script, folder, suffix = draw(st.sampled_from(
        [("figure.py", "plotting", "png"), ("check_claims.py", "claims", "nc"), ("table.py", "tables", "md")]
    ))  # fmt: skip
    name = draw(
        st.sampled_from(["risk_curves", *plugins.names(folder)] if folder == "plotting" else plugins.names(folder))
    )
    roles = draw(st.lists(st.sampled_from(["risk", "curve", "norms", "x"]), min_size=1, max_size=2))
    data = [draw(files(["results/tiny/risk.nc", "results/tiny/sparsity.nc"])) for _ in roles]
    words = [script, name, "--roles", *roles, "--data", *data, *draw(parameters(DEFINITIONS[f"{folder}.{name}"]))]
    style = ["--style", draw(rarely(st.sampled_from(FILES), st.just("config/figures.mplstyle"), 10))]
    return [*words, *(style if folder == "plotting" else []), "--output", draw(output(f"made/x.{suffix}"))]


@st.composite
def curve(draw):
    name = draw(st.sampled_from(plugins.names("curves")))
    return ["curve.py", name, *draw(parameters(DEFINITIONS[f"curves.{name}"])), "--output", draw(output("made/x.nc"))]


@st.composite
def asking(draw):
    """Of results that are there."""
    file = st.sampled_from([*FILES, "results/figures/tiny_risk.png", "results/tiny/risk.nc", "results", "results/tiny"])
    words = rarely(HOSTILE_WORDS, file, 6)
    script = draw(st.sampled_from(["audit", "check", "diagnose", "plan", "crate", "report", "claims_table"]))
    told = {
        "audit": ["--strict", "--bytes", "--root", "--seed", "--threads", "--json"],
        "diagnose": ["--pretrained", "--finetuned", "--baseline", "--layers", "--most", "--output"],
        "plan": ["--configfile", "--measured"],
    }.get(script, ["--output"])
    flags = [word for flag in told if script != "audit" or draw(st.booleans()) for word in (flag, draw(words))]
    return [f"{script}.py", *draw(st.lists(words, max_size=2)), *flags]


def command_lines():
    shares = {training: 8, measuring: 3, collecting: 3, of_data: 5, curve: 2, asking: 6}
    return st.sampled_from([kind for kind in shares for _ in range(shares[kind])]).flatmap(lambda kind: kind())
