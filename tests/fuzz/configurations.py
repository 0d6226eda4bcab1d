"""Configurations that come from the schema, as text."""

import yaml
from grammar import HOSTILE, SCHEMA, rarely, section
from hypothesis import strategies as st

from carryover.config import plugins

DEFINITIONS = SCHEMA["$defs"]
NAMES = st.sampled_from(["toy", "other", "risk", "a_b", "theory", "Toy", "x y", "1", "é"])


def fitting(family):
    """Measures of a family's networks."""
    names = plugins.names("measures")
    return [name for name in names if family in DEFINITIONS[f"measures.{name}"].get("families", [family])]


@st.composite
def experiment(draw, share=40):
    """`share`: one in how many values is wrong, none where it is 0."""
    family = draw(st.sampled_from(plugins.names("families")))
    shared = DEFINITIONS[f"{family}.task"]["properties"]
    own = {stage: draw(section(DEFINITIONS[f"{family}.{stage}"], shared, share)) for stage in ("pretrain", "finetune")}
    if draw(st.booleans()):
        grid = section(DEFINITIONS[f"{family}.finetune"], shared, share)
        own["finetune"]["grids"] = {name: draw(grid) for name in draw(st.sampled_from(["a", "ab"]))}
    if draw(rarely(st.just(True), st.just(False), share)):
        del own["pretrain"]
    known = draw(rarely(st.just(plugins.names("measures")), st.just(fitting(family)), share))
    names = draw(st.lists(st.sampled_from(known), max_size=3, unique=True))
    measures = {name: draw(section(DEFINITIONS[f"measures.{name}"], (), share)) for name in names}
    seeds = draw(rarely(HOSTILE, st.integers(1, 5), share))
    task = draw(section(DEFINITIONS[f"{family}.task"], (), share))
    made = {"family": family, "seeds": seeds, "task": task, **own, "measures": measures}
    for key in draw(st.lists(st.sampled_from(["block", "split", "resources"]), unique=True)):
        usual = {"block": 2, "split": [], "resources": {"gpu": 1}}[key]
        made[key] = draw(rarely(HOSTILE, st.just(usual), share))
    return made


@st.composite
def made_of_data(draw, kind, key, folder, datasets):
    name = draw(st.sampled_from(plugins.names(folder)))
    roles = st.dictionaries(
        st.sampled_from(["risk", "curve", "data"]), rarely(HOSTILE, st.sampled_from(datasets)), max_size=2
    )
    made = {key: name, "data": draw(roles), "options": draw(section(DEFINITIONS[f"{folder}.{name}"]))}
    if kind == "figures" and draw(st.booleans()):
        made["rests_on"] = [draw(st.sampled_from(["risk/exact", "x", ""]))]
    return made


@st.composite
def configuration(draw):
    """A configuration as it comes from the schema, and in one case of twelve any value in the place of a section."""
    experiments = draw(st.dictionaries(NAMES, experiment(), min_size=1, max_size=2))
    measured = [f"{name}/{measure}" for name, spec in experiments.items() for measure in spec["measures"]]
    datasets = [*measured, "theory/relu_penalty", "resources/none.csv"]
    curves = plugins.names("curves")
    made = {
        "experiments": experiments,
        "curves": {
            name: draw(section(DEFINITIONS[f"curves.{name}"]))
            for name in draw(st.lists(st.sampled_from(curves), max_size=2, unique=True))
        },
    }
    for kind, key, folder in (
        ("figures", "plot", "plotting"),
        ("claims", "check", "claims"),
        ("tables", "rows", "tables"),
    ):
        if draw(st.booleans()):
            made[kind] = draw(st.dictionaries(NAMES, made_of_data(kind, key, folder, datasets), max_size=2))
    if draw(st.integers(0, 5)) == 0:
        made["pathvars"] = {"results": draw(rarely(HOSTILE, st.sampled_from(["out", "a/b", ".", "x y"]), 2))}
    if draw(st.integers(0, 11)) == 0:
        made[draw(st.sampled_from([*SCHEMA["properties"], "unknown"]))] = draw(HOSTILE)
    return made


def _spoiled(text, how, place):
    """A text with a small mistake, as of a hand that slips."""
    lines = text.splitlines()
    at = place % len(lines)
    if how == "twice":
        lines.insert(at, lines[at])
    elif how == "gone":
        del lines[at]
    elif how == "tab":
        lines[at] = "\t" + lines[at]
    elif how == "cut":
        return text[: place % len(text)]
    elif how == "anchor":
        lines[at] += " *nowhere"
    elif how == "bracket":
        lines[at] += " [" * (1 + place)
    return "\n".join(lines) + "\n"


@st.composite
def text(draw):
    """(bytes of a configuration's file)."""
    written = yaml.safe_dump(draw(configuration()), sort_keys=False, allow_unicode=True)
    how = draw(rarely(st.sampled_from(["twice", "gone", "tab", "cut", "anchor", "bracket"]), st.none(), 4))
    if how:
        written = _spoiled(written, how, draw(st.integers(0, 2000)))
    encoding = draw(rarely(st.sampled_from(["latin-1", "utf-16"]), st.just("utf-8"), 20))
    return written.encode(encoding, errors="replace")
