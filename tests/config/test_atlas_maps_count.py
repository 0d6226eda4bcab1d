"""What the maps of the atlas say of their families agrees with their experiments, at both scales."""

import pytest

from carryover.config.parameters import model_of
from carryover.workflow import startup
from toy.small_project import ROOT


def configuration(*names):
    return startup.Sweep(startup.configuration([ROOT / "config" / name for name in names]), ROOT)


@pytest.mark.parametrize("names", [("config.yaml",), ("config.yaml", "paper.yaml")])
def test_parameters_of_the_target_are_those_of_the_tasks(names):
    made = configuration(*names)
    maps = {name: entry for name, entry in made.config["comparisons"].items() if name.startswith("atlas_")}
    for name, entry in maps.items():
        experiment = made.config["experiments"][entry["data"]["risk"].partition("/")[0]]
        task = dict(model_of(f"families.{experiment['family']}", "task")(**experiment.get("task", {})))
        expected = {
            "diagonal": 1, "deep_linear": task.get("dimension"), "relu": task.get("dimension"),
            "mean_field": task.get("dimension", 0) * task.get("teacher_units", 0),
            "wide_relu": task.get("dimension"), "image_pairs": 64,
        }[experiment["family"]]  # fmt: skip
        assert entry["options"].get("parameters", 1) == expected, name
