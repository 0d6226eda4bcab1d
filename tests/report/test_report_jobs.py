"""What a report says of jobs is what their records say, counted once per job."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from carryover.report import graph, jobs, words
from carryover.templates.rendering import rendered


def record(rule, outputs, inputs=(), duration=1.0, memory=10, seeds=(), commit="c1", **versions):
    return {
        "rule": rule,
        "outputs": dict.fromkeys(outputs),
        "inputs": dict.fromkeys(inputs),
        "seeds": list(seeds),
        "git": commit and {"commit": commit, "dirty": commit == "c2"},
        "environment": {
            "python": "cpython 3.11", "versions": versions, "blas": [{"library": "openblas", "version": "0.3"}],
            "device": "cuda", "accelerator": {"name": "H100", "cuda": "13"} if commit == "c2" else None,
        },
        "volatile": {"duration": duration, "peak_memory": memory, "host": "here", "platform": "Linux"},
    }  # fmt: skip


PRETRAIN = record("pretrain", ["p"], seeds=[1, 0], numpy="2.0")
SHARDS = [record("finetune", [name], ["p"], 2.0 + i, 50 - i, [i], numpy="2.1") for i, name in enumerate("ab")]
RISK = record("collect", ["r"], ["a", "b"], commit="c2")
FIGURE = record("figure", ["f.png", "f.svg"], ["r", "style"], 0.25, 70, commit=None)
RECORDS = {"p": PRETRAIN, "a": SHARDS[0], "b": SHARDS[1], "r": RISK, "f.png": FIGURE, "f.svg": FIGURE}


def test_a_job_counts_once_however_many_results_it_has():
    assert jobs.work(RECORDS) == {
        "collect": jobs.Work(1, 1.0, 1.0, 10),
        "figure": jobs.Work(1, 0.25, 0.25, 70),
        "finetune": jobs.Work(2, 5.0, 3.0, 50),
        "pretrain": jobs.Work(1, 1.0, 1.0, 10),
    }


def test_rules_read_what_others_made():
    assert jobs.edges(RECORDS) == {("pretrain", "finetune"), ("finetune", "collect"), ("collect", "figure")}


def test_what_went_into_a_result():
    assert jobs.upstream(FIGURE, RECORDS).keys() == {"r", "a", "b", "p"}
    assert jobs.upstream(SHARDS[0], RECORDS).keys() == {"p"}
    assert jobs.seeds(RECORDS.values()) == [0, 1]


def test_the_graph_has_every_rule_apart_from_the_others_and_an_arrow_for_each_edge():
    edges = {("pretrain", "finetune"), ("curve", "check_claims"), ("report", "check_claims")}
    work = dict.fromkeys(graph.PLACES, jobs.Work(12, 90.0, 9.0, 1))
    drawn = ElementTree.fromstring(rendered("graph.svg.j2", graph=graph.drawing(work, edges)))
    width, height = float(drawn.get("width")), float(drawn.get("height"))
    boxes = [[float(box.get(key)) for key in ("x", "y", "width", "height")] for box in drawn.iter("rect")]
    assert len(boxes) == len(graph.PLACES)
    for number, (x, y, wide, high) in enumerate(boxes):
        assert 0 <= x < x + wide <= width
        assert 0 <= y < y + high <= height
        assert all(abs(x - other[0]) > wide or abs(y - other[1]) > high for other in boxes[number + 1 :])
    texts = ["".join(text.itertext()) for text in drawn.iter("text")]
    assert sorted(texts) == sorted(f"{rule}12 jobs1 min 30 s" for rule in graph.PLACES)
    assert len(drawn.findall("g[@marker-end]/path")) == 2
    assert {element.get("fill") for element in drawn.iter("text")} == {"currentColor"}


@given(st.floats(0, 1e7))
def test_a_duration_in_words_is_the_duration(seconds):
    units = {"s": 1, "min": 60, "h": 3600}
    parts = words.duration(seconds).split()
    read = [(float(number), units[unit]) for number, unit in zip(parts[::2], parts[1::2], strict=True)]
    half = 0.051 if len(read) == 1 else 0.51 * min(unit for _, unit in read) + 0.5
    assert abs(sum(number * unit for number, unit in read) - seconds) <= half
    assert all(number < 60 for number, unit in read if unit < 3600)
