"""What the workflow makes, read off small configurations by hand."""

import pytest

from carryover import labels
from carryover.config import parameters
from carryover.errors import UserError
from carryover.workflow.sweep import Sweep, Wildcards


@pytest.fixture
def sweep(request):
    def build(finetune=None, others=None, **experiment):
        spec = {"family": "diagonal", "seeds": 7, "block": 3, "pretrain": {}, "finetune": finetune or {}}
        spec |= {"split": ["protocol"], **experiment}
        return Sweep({"experiments": {"toy": spec}, **(others or {})}, request.config.rootpath)

    return build


def points(sweep, stage):
    """{name: the one point of a job} where each point makes a job of its own."""
    return {name: batch.points[0] for name, batch in sweep.batches("toy", stage).items()}


def flags(sweep, stage, **wildcards):
    words = sweep.flags(stage)(Wildcards(experiment="toy", block="0", **wildcards))
    groups, name = {}, None
    for word in words[1:]:
        if word.startswith("--"):
            groups[name := word] = []
        else:
            groups[name].append(word)
    return groups


def test_seeds_fill_blocks_of_fixed_size(sweep):
    assert sweep().blocks("toy") == {0: range(3), 1: range(3, 6), 2: range(6, 7)}


def test_more_seeds_leave_the_full_blocks_alone(sweep):
    few, many = sweep().blocks("toy"), sweep(seeds=9).blocks("toy")
    assert [few[b] for b in (0, 1)] == [many[b] for b in (0, 1)]


def test_a_point_spells_its_axes_and_where_it_starts(sweep):
    batches = sweep({"protocol": ["single_task", "finetuning"], "solver": "exact"}).batches("toy", "finetune")
    assert {name: batch.source for name, batch in batches.items()} == {
        "protocol~single_task_solver~exact": None,
        "pretrain_solver~exact_protocol~finetuning_solver~exact": "solver~exact",
    }


def test_files_that_parameters_name_are_inputs_of_the_jobs_that_read_them(sweep, tmp_path):
    for name in ("images.bin", "weights.pth"):
        (tmp_path / name).touch()
    told = {"images": "cifar-100", "folder": str(tmp_path)}
    start = {"solver": "published", "weights": str(tmp_path / "weights.pth")}
    made = sweep({"protocol": "single_task"}, family="convnet", task=told, pretrain=start)
    both = [str(tmp_path / "images.bin"), str(tmp_path / "weights.pth")]
    for stage in ("pretrain", "finetune"):
        (point,) = points(made, stage)
        assert made.files(stage)(Wildcards(experiment="toy", block="0", point=point)) == both
    assert sweep().files("pretrain")(Wildcards(experiment="toy", block="0", point="solver~exact")) == []


def test_several_values_share_a_job_unless_split(sweep):
    together = sweep({"samples": [8, 16], "protocol": "single_task"})
    (name,) = points(together, "finetune")
    assert flags(together, "finetune", point=name)["--samples"] == ["8", "16"]
    apart = points(sweep({"samples": [8, 16], "protocol": "single_task"}, split=["samples"]), "finetune")
    assert [p.parameters.samples[0] for p in apart.values()] == [8, 16]
    assert "protocol~single_task_samples~8_solver~exact" in apart


def test_a_job_gets_only_the_flags_it_reads(sweep):
    made = sweep({"protocol": "single_task", "solver": ["exact", "descent"], "learning_rate": 0.3})
    exact, descent = (f"protocol~single_task_solver~{s}" for s in ("exact", "descent"))
    assert "--learning-rate" not in flags(made, "finetune", point=exact)
    assert flags(made, "finetune", point=descent)["--learning-rate"] == ["0.3"]


def test_a_key_that_no_job_reads_is_refused(sweep):
    with pytest.raises(UserError, match="learning_rate is read only where solver is descent"):
        sweep({"protocol": "single_task", "solver": "exact", "learning_rate": 0.3})


def test_grids_add_up_and_override(sweep):
    made = sweep(
        {
            "samples": 8,
            "grids": {
                "one": {"protocol": "single_task"},
                "two": {"protocol": "multi_task", "solver": "flow", "samples": 16},
            },
        }
    )
    samples = {name: p.parameters.samples[0] for name, p in points(made, "finetune").items()}
    assert samples == {"protocol~single_task_solver~exact": 8, "protocol~multi_task_solver~flow": 16}


def test_a_measure_is_taken_where_its_model_says_that_it_applies(sweep, monkeypatch):
    made = sweep({"protocol": ["single_task", "single_task_probe"]}, measures={"risk": {}}, split=["protocol", "risk"])
    monkeypatch.setattr(parameters.Model, "APPLIES_TO", {"protocol": ("single_task",)})
    measured = [wildcards.point for rule, wildcards, _ in made.jobs() if rule == "measure"]
    assert set(measured) == {"protocol~single_task_solver~exact"}
    shards = made.inputs("collect")(Wildcards(experiment="toy", measure="risk"))
    assert shards == [f"results/toy/measure/risk/protocol~single_task_solver~exact/{block}.nc" for block in range(3)]
    monkeypatch.setattr(parameters.Model, "APPLIES_TO", {"protocol": ("finetuning",)})
    with pytest.raises(UserError, match=r"toy\.measures\.risk applies to no job of this experiment"):
        made.check()


def test_a_measure_of_weights_asks_for_them_before_anything_is_trained(sweep):
    told = {"protocol": "single_task", "samples": 16}
    asked = {"family": "convnet", "measures": {"stages": {}}}
    with pytest.raises(UserError, match=r"toy\.measures\.stages asks of finetune that keep_weights is true\.$"):
        sweep(told, **asked).check()
    sweep({**told, "keep_weights": True}, **asked).check()


def test_shards_and_upstream_are_the_paths_of_other_rules(sweep):
    made = sweep({"protocol": "finetuning"}, measures={"risk": {}}, split=["protocol", "risk"])
    point = "pretrain_solver~exact_protocol~finetuning_solver~exact"
    shards = made.inputs("collect")(Wildcards(experiment="toy", measure="risk"))
    assert shards == [f"results/toy/measure/risk/{point}/{block}.nc" for block in range(3)]
    started = made.inputs("finetune")(Wildcards(experiment="toy", point=point, block="1"))
    assert started == ["results/toy/pretrain/solver~exact/1.nc"]


def test_a_key_changes_with_what_is_asked_above_and_with_nothing_else(sweep, monkeypatch):
    def keys(**told):
        made = sweep({"protocol": "finetuning"}, measures={"risk": {}}, **told)
        return {rule: made.key(rule)(wildcards) for rule, wildcards, _ in made.jobs()}

    usual = keys()
    assert keys(pretrain={"samples": 1024, "initial_scale": "1e-3"}) == usual  # defaults, written otherwise
    changed = keys(pretrain={"samples": 99})
    assert {rule for rule in usual if changed[rule] != usual[rule]} == {"pretrain", "finetune", "collect"}
    changed = keys(resources={"mem_mb": 9000})
    assert changed == usual
    monkeypatch.setattr(labels, "of_family", lambda *_: {"samples": {"label": "another"}})
    changed = keys()
    assert {rule for rule in usual if changed[rule] != usual[rule]} == {"collect"}


def test_code_follows_the_solver(sweep):
    made = sweep({"protocol": "single_task", "solver": ["exact", "descent"]})
    modules = {
        p.axes["solver"]: made.request("finetune", Wildcards(experiment="toy", point=name, block="0")).modules
        for name, p in points(made, "finetune").items()
    }
    assert modules["exact"] == ["finetune", "carryover.families.diagonal.finetune", "carryover.families.diagonal.exact"]
    assert modules["descent"][-1] == "carryover.families.diagonal.descent"


def test_what_is_made_of_data_has_its_formats_and_records(sweep):
    entry = {"data": {"bounds": "toy/risk", "published": "some/file.csv"}}
    tables = {"bound_correlations": entry, "other": {"rows": "bound_correlations", **entry}}
    made = sweep({"protocol": "single_task"}, {"tables": tables}, measures={"risk": {}})
    names = [f"results/tables/{name}.{suffix}" for name in ("bound_correlations", "other") for suffix in ("md", "tex")]
    assert made.artifacts("table") == [path for name in names for path in (name, f"{name}.json")]
    assert made.artifacts("figure") == made.artifacts("check_claims") == []
    assert ("table", {"table": "other"}, "results/tables/other.md") in list(made.jobs())
    wildcards = Wildcards(table="other")
    assert made.inputs("table")(wildcards) == ["results/toy/risk.nc", "some/file.csv"]
    assert made.request("table", wildcards).modules == ["table", "carryover.figures.tables.bound_correlations"]
    assert made.constraints()["table"] == "bound_correlations|other"
    with pytest.raises(UserError, match=r"tables\.bound_correlations\.data: some/file.csv is neither a file nor made"):
        made.check()


def test_a_comparison_is_data_for_what_is_made_after_it(sweep):
    entry = {"compare": "atlas", "data": {"risk": "toy/risk"}, "options": {"shown": 2.0}}
    others = {"comparisons": {"map": entry}, "figures": {"atlas": {"data": {"map": "comparisons/map"}}}}
    made = sweep({"protocol": "single_task"}, others, measures={"risk": {}})
    made.check()
    wildcards = Wildcards(comparison="map")
    assert made.artifacts("compare") == ["results/comparisons/map.nc", "results/comparisons/map.nc.json"]
    assert made.inputs("figure")(Wildcards(figure="atlas")) == ["results/comparisons/map.nc"]
    assert made.flags("compare")(wildcards) == ["atlas", "--roles", "risk", "--shown", "2.0"]
    assert made.request("compare", wildcards).modules == ["compare", "carryover.claims.comparisons.atlas"]
    assert made.constraints()["comparison"] == "map"
    first, last = made.artifacts()[0], made.artifacts()[-1]
    assert (first, last) == ("results/comparisons/map.nc", "results/figures/atlas.pdf.json")
    others["comparisons"]["again"] = {"compare": "atlas", "data": {"risk": "comparisons/map"}}
    with pytest.raises(UserError, match=r"comparisons\.again\.data: results/comparisons/map.nc is neither a file nor"):
        sweep({"protocol": "single_task"}, others, measures={"risk": {}}).check()
