"""The jobs of small configurations, worked out by hand."""

import shutil

import pytest
import yaml

from carryover.config.artifacts import STAGES
from carryover.errors import UserError
from carryover.workflow import startup
from carryover.workflow.sweep import Sweep
from toy.small_project import ROOT


@pytest.fixture
def sweep(request):
    def build(finetune=None, others=None, **experiment):
        spec = {"family": "diagonal", "seeds": 7, "block": 3, "pretrain": {}, "finetune": finetune or {}}
        spec |= {"split": ["protocol"], **experiment}
        return Sweep({"experiments": {"toy": spec}, **(others or {})}, request.config.rootpath)

    return build


def flags(sweep, stage, **wildcards):
    """{flag: its words} of a job of the first block."""
    words = sweep.flags(stage)({"experiment": "toy", "block": "0", **wildcards})
    groups, name = {}, ""
    for word in words[1:]:
        if word.startswith("--"):
            name, _, value = word.partition("=")
            groups[name] = [value] if value else []
        else:
            groups[name].append(word)
    return groups


def test_several_values_share_a_job_unless_they_are_split(sweep):
    values = {"samples": [8, 12], "protocol": "single_task"}
    together, apart = sweep(values), sweep(values, split=["samples"])
    (name,) = together.batches["toy"]["finetune"]
    assert flags(together, "finetune", point=name)["--samples"] == ["8", "12"]
    each = [flags(apart, "finetune", point=name)["--samples"] for name in apart.batches["toy"]["finetune"]]
    assert each == [["8"], ["12"]]
    protocols = sweep({"protocol": ["single_task", "finetuning"], "solver": "exact"}, split=[])
    (name,) = protocols.batches["toy"]["finetune"]
    assert "--also" in flags(protocols, "finetune", point=name)


def test_a_job_gets_only_the_flags_it_reads(sweep):
    made = sweep({"protocol": "single_task", "solver": ["exact", "descent"], "learning_rate": 0.3})
    exact, descent = (f"protocol~single_task_solver~{solver}" for solver in ("exact", "descent"))
    assert "--learning-rate" not in flags(made, "finetune", point=exact)
    assert flags(made, "finetune", point=descent)["--learning-rate"] == ["0.3"]
    with pytest.raises(UserError, match="learning_rate is read only where solver is descent"):
        sweep({"protocol": "single_task", "solver": "exact", "learning_rate": 0.3})


def test_grids_add_up_and_override(sweep):
    grids = {"one": {"protocol": "single_task"}, "two": {"protocol": "multi_task", "solver": "flow", "samples": 24}}
    made = sweep({"samples": 12, "grids": grids})
    samples = {name: flags(made, "finetune", point=name)["--samples"] for name in made.batches["toy"]["finetune"]}
    assert samples == {"protocol~single_task_solver~exact": ["12"], "protocol~multi_task_solver~flow": ["24"]}
    with pytest.raises(UserError, match=r"toy\.finetune: two grids ask for protocol~single_task_solver~exact; "):
        sweep({"grids": grids | {"again": {"protocol": "single_task"}}})


GRIDS = {"a": {"samples": 4}, "b": {"solver": "descent", "samples": 16, "learning_rate": 0.2}}


@pytest.mark.parametrize(("finetune", "task", "sentence"), [
    ({"protocol": "single_task", "samples": 8, "grids": GRIDS}, {},
     r"toy\.finetune\.samples does nothing: each grid that reads it sets its own \(a, b\)"),
    ({"protocol": "single_task", "learning_rate": 0.1, "grids": GRIDS}, {},
     r"toy\.finetune\.learning_rate does nothing: each grid that reads it sets its own \(b\)"),
    ({"dimension": 8}, {"dimension": 4}, r"toy\.task\.dimension does nothing: no job reads it, or each stage"),
    ({"protocol": "single_task"}, {"dimension": [50, 100]}, r"toy\.task\.dimension: Input should be a valid integer"),
    ({"protocol": []}, {}, r"toy\.finetune\.protocol: an empty list asks for nothing"),
    ({"protocol": "single_task", "overlap": []}, {}, r"toy\.finetune\.overlap: an empty list asks for nothing"),
    ({"protocol": "single_task"}, {"dimension": 2**70}, r"toy\.task\.dimension: no array is as large as 1180591"),
])  # fmt: skip
def test_a_setting_that_does_nothing_or_cannot_be_is_named_where_it_stands(sweep, finetune, task, sentence):
    with pytest.raises(UserError, match=sentence):
        sweep(finetune, task=task, pretrain={"dimension": 6} if "dimension" in finetune else None)


def test_a_setting_that_one_stage_reads_does_something(sweep):
    made = sweep({"protocol": "single_task", "dimension": 8}, task={"dimension": 4}, pretrain={})
    sizes = [point.parameters.dimension for stage in STAGES for point in made.points("toy", stage).values()]
    assert sizes == [4, 8]


def test_numbers_may_come_as_text_as_on_the_command_line(sweep):
    made = sweep({"protocol": "single_task", "samples": ["8", "12"], "overlap": "0.5"}, seeds="5", block="2")
    (name,) = made.batches["toy"]["finetune"]
    assert flags(made, "finetune", point=name)["--samples"] == ["8", "12"]
    assert len(made.blocks("toy")) == 3


def test_what_starts_from_pretraining_needs_it(sweep):
    with pytest.raises(UserError, match=r"toy\.finetune with protocol finetuning, .* starts from pretraining: add "):
        sweep({"protocol": "finetuning"}, pretrain=None)


def test_a_measure_of_weights_asks_for_them_before_anything_is_trained(sweep):
    finetune = {"protocol": "single_task", "samples": 16}
    measured = {"family": "convnet", "measures": {"stages": {}}}
    with pytest.raises(
        UserError, match=r"toy\.measures\.stages needs state, which networks of convnet keep if keep_weights is true\.$"
    ):
        sweep(finetune, **measured).check()
    sweep({**finetune, "keep_weights": True}, **measured).check()


def test_a_solver_that_its_family_does_not_define_is_named_before_anything_is_trained(sweep, tmp_path):
    made = sweep({"protocol": "single_task", "solver": "exact"})
    shutil.copytree(ROOT / "scripts/carryover/families/diagonal", tmp_path / "carryover/families/diagonal")
    made.scripts = tmp_path
    assert made.jobs
    made = sweep({"protocol": "single_task", "solver": "exact"})
    made.scripts, file = tmp_path, tmp_path / "carryover/families/diagonal/solvers.py"
    file.write_text(file.read_text().replace("def exact(", "def exakt("))
    with pytest.raises(UserError, match=r"^scripts/carryover/families/diagonal/solvers\.py has no function exact,"):
        _ = made.jobs


def test_what_is_made_of_data_needs_data_that_are_made_before_it(sweep):
    entry = {"compare": "atlas", "data": {"risk": "toy/risk"}}
    others = {"comparisons": {"map": entry}, "figures": {"atlas": {"data": {"map": "comparisons/map"}}}}
    sweep({"protocol": "single_task"}, others, measures={"risk": {}}).check()
    others["comparisons"] = {"again": {"compare": "atlas", "data": {"risk": "comparisons/map"}}, "map": entry}
    with pytest.raises(UserError, match=r"comparisons\.again\.data: results/comparisons/map.nc is neither a file nor"):
        sweep({"protocol": "single_task"}, others, measures={"risk": {}}).check()


MAP = {"compare": "atlas", "data": {"risk": "toy/risk"}}
PLOT = {"plot": "facets", "data": {"risk": "toy/risk"}}


@pytest.mark.parametrize(("others", "sentence"), [
    ({"figures": {"a": {**PLOT, "options": {"hue": ["protocl"]}}}}, r"a\.options\.hue: runs of toy/risk .* protocl\."),
    ({"figures": {"a": {**PLOT, "options": {"only": ["rescal=1"]}}}}, r"a\.options\.only: .* no coordinate rescal\."),
    ({"comparisons": {"m": {**MAP, "options": {"times": "pretrain_nois"}}}}, r"m\.options\.times: .* nois\."),
    ({"archive": "nowhere"}, r"archive: there is no folder nowhere"),
    ({"figures": {"a": PLOT | {"paper": "nonsense"}}}, r"figures\.a\.paper: there is no nonsense; there are: one"),
])  # fmt: skip
def test_a_name_that_nothing_has_is_told_before_anything_is_trained(sweep, others, sentence):
    papers = {"one": {"name": "One", "title": "On one"}}
    with pytest.raises(UserError, match=sentence):
        sweep({"protocol": "single_task"}, {"papers": papers, **others}, measures={"risk": {}}).check()


@pytest.mark.parametrize(("overlay", "sentence"), [
    ({"experiments": {"relu_overlap": None}}, r"experiments\.relu_overlap is null, but \w+\.\w+\.data is made"),
    ({"experiments": {"relu_overlap": {"measures": {"risk": None}}}}, r"experiments.relu_overlap.measures.risk is nul"),
    ({"curves": {"relu_penalty": None}}, r"curves\.relu_penalty is null, but \w+\.\w+\.data is made of theory/"),
    ({"claims": {"relu_overlap": None}}, r"claims\.relu_overlap is null, but nothing of that name is there"),
])  # fmt: skip
def test_a_null_that_removes_what_others_need_is_named(tmp_path, overlay, sentence):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(overlay))
    with pytest.raises(UserError, match=f"^configuration: {sentence}"):
        Sweep(startup.configuration([ROOT / "config/config.yaml", tmp_path / "mine.yaml"]), ROOT).check()


@pytest.mark.parametrize("overlay", sorted(file.name for file in (ROOT / "config").glob("*.yaml")))
def test_every_configuration_that_is_shipped_can_be_planned(overlay):
    Sweep(startup.configuration([ROOT / "config" / name for name in ("config.yaml", overlay)]), ROOT).check()
