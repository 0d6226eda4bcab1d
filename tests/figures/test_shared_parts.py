"""What plots share: runs that are chosen, values in order, names, colours, curves."""

import numpy as np
import pytest

from carryover import labels
from carryover.errors import UserError
from carryover.families.deep_linear.parameters import PRETRAINED as LINEAR
from carryover.families.diagonal.parameters import PROTOCOLS
from carryover.families.mean_field.parameters import SOLVERS
from carryover.families.relu.parameters import PRETRAINED, SCRATCH
from carryover.figures.drawing import panels
from carryover.measures import risk
from toy.diagonal_networks import SEEDS, measured


def test_where_keeps_the_runs_that_were_asked_for():
    data = measured("overlapping", risk)
    kept = panels.where(data, protocol="finetuning", overlap=0.5, samples="4")
    assert set(kept["protocol"].values) == {"finetuning"}
    assert set(kept["overlap"].values) == {0.5}
    assert kept["seed"].values.tolist() == SEEDS
    assert panels.where(data).identical(data)


def test_where_there_are_no_runs_is_said():
    with pytest.raises(UserError, match=r"^no run has protocol=finetuning, samples=5; see the options in"):
        panels.where(measured("overlapping", risk), protocol="finetuning", samples=5)


def test_values_come_in_the_order_of_the_field():
    data = measured("overlapping", risk)
    assert panels.values(data, "protocol") == [
        "single_task", "multi_task", "finetuning", "single_task_probe", "finetuning_probe"
    ]  # fmt: skip
    assert panels.values(data, "samples") == [3, 4, 6, 8]
    others = {*PRETRAINED, *SCRATCH, *LINEAR, *SOLVERS}
    protocols = labels.of_family("diagonal")["protocol"]["value_labels"].keys()
    assert protocols == panels.COLORS.keys() == {*PROTOCOLS, *others}
    assert len(set(panels.colors("protocol", protocols))) == len(protocols)
    assert len(np.unique(panels.colors("samples", [3, 4, 6]), axis=0)) == 3


def test_labels_of_a_family_come_before_the_common_ones():
    found = labels.of_family("mean_field")
    assert found["samples"] == labels.of_family("diagonal")["samples"] == {"label": "main-task samples n"}
    starts = {
        "": "from scratch",
        "descent": "trained features",
        "exact": "initial features",
        "flow": "trained features",
    }
    assert found["pretrain_solver"] == {"value_labels": starts}
