"""Choosing a factor for the networks of our own families, whose risk is exact."""

import pytest

from carryover.diagnosis.rescaling import choose_family_factor

TASK = {"dimension": 100, "auxiliary_features": 20}


@pytest.mark.parametrize(("main_features", "end"), [(3, "No smaller one was tried."), (20, "")])
def test_diagonal_networks_gain_from_small_factors_where_few_features_are_wanted_and_from_large_ones_where_all_are(
    main_features, end
):
    finetune = {**TASK, "samples": 32, "main_features": main_features}
    found = choose_family_factor("diagonal", {**TASK, "samples": 128}, finetune)
    assert found.verdict == "helps"
    assert (found.factor < 1) == (main_features == 3)
    assert found.sentence().endswith(f"it beats 1 beyond noise. {end}".rstrip())


def test_a_search_of_a_family_is_kept_and_runs_in_processes(tmp_path):
    finetune = {**TASK, "samples": 32, "main_features": 3}
    options = {"factors": (0.25,), "extensions": 0, "refinements": 0, "fresh_seeds": 2, "journal": tmp_path / "scores"}
    two, one = (
        choose_family_factor("diagonal", {**TASK, "samples": 128}, finetune, jobs=jobs, **options) for jobs in (2, 1)
    )
    assert two.curve.identical(one.curve)
    assert len((tmp_path / "scores").read_text().splitlines()) == 1 + two.trainings
    with pytest.raises(ValueError, match="belongs to another search"):
        choose_family_factor("diagonal", {**TASK, "samples": 64}, finetune, **options)


@pytest.mark.parametrize(
    ("family", "finetune", "said"),
    [
        ("convnet", {}, "the family convnet has no exact risk"),
        ("none", {}, "there is no family none"),
        ("diagonal", {"sample": 8}, "finetune of the family diagonal: unknown key sample"),
        ("diagonal", {"readout_scale": -1.0}, "readout_scale: Input should be greater than 0"),
    ],
)
def test_mistakes_in_the_parameters_of_a_family_are_named(family, finetune, said):
    with pytest.raises(ValueError, match=said):
        choose_family_factor(family, {}, finetune)
