"""Datasets of mean-field networks: what they hold, that a run depends on nothing but itself, and what is refused."""

import numpy as np
import pytest

from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.families.mean_field import parameters, task
from toy.mean_field_toys import TASK, finetuned, followed, pretrained

WEIGHTS = {"first", "second", "start_first", "teacher_directions", "teacher_readout", "source_readout"}
P = model_of("families.mean_field", "pretrain")(**TASK)
PROTOCOLS = tuple(parameters.SOLVERS)


@pytest.fixture(scope="module")
def start():
    return pretrained(teacher_scale=(1.0, 3.0), anchor=(0.0, 0.5))


def of(start, protocol, **told):
    given = start if protocol in parameters.TRANSFER else None
    return finetuned(given, protocol, **{"teacher_scale": (1.0, 3.0), **told})


def test_what_a_run_is_compared_with_is_its_own(start):
    data = of(start, "linear_transfer", draws=2)
    for name, found in (("loss", "pretrained_loss"), ("target_power", "target_power")):
        known = dict(zip(_kinds(start), start[name].values, strict=True))
        expected = [known[kind] for kind in _kinds(data)]
        np.testing.assert_allclose(data[found], expected, rtol=1e-6)


def _kinds(data):
    names = ("seed", "teacher_scale", "ablated", "anchor")
    return list(zip(*(data[name].values.tolist() for name in names), strict=True))


def test_inputs_depend_on_seed_and_draw_alone(start):
    told = {"draws": 3, "samples": (4,), "noise": 0.5}
    _, scratch, _ = followed(None, "single_task", max_steps=1, teacher_scale=(1.0, 3.0), **told)
    _, linear, _ = followed(start, teacher_scale=(1.0, 3.0), **told)
    _, longer, _ = followed(start, teacher_scale=(1.0, 3.0), **{**told, "samples": (9,)})
    assert scratch.X.shape == linear.X.shape == (12, 4, 4)
    np.testing.assert_array_equal(scratch.X, linear.X)
    np.testing.assert_array_equal(scratch.y, linear.y)
    np.testing.assert_array_equal(longer.X[:, :4], linear.X)
    np.testing.assert_allclose(longer.y[:, :4], linear.y)
    by_seed_and_scale = linear.X.reshape(2, 2, 3, 4, 4)
    np.testing.assert_array_equal(by_seed_and_scale[:, 0], by_seed_and_scale[:, 1])
    assert len(np.unique(linear.X[:, 0, 0])) == 6
    _, clean, _ = followed(start, teacher_scale=(1.0, 3.0), **{**told, "noise": 0.0})
    noise = (linear.y - clean.y).reshape(2, 2, 3, 4)
    np.testing.assert_allclose(noise[:, 0], noise[:, 1])
    assert 0.2 < noise.std() < 0.9
    assert clean.y[0] == pytest.approx(task.outputs(task.target(P, "toy", 0, 1.0), clean.X[0]))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_seed_is_the_same_alone_as_in_a_block(start, protocol):
    told = {"samples": (5,), "draws": 2, "tolerance": 0.02, "max_steps": 300, "precision": "float64"}
    block = of(start, protocol, seeds=(0, 1, 2), **told)
    if protocol in ("single_task", "finetuning"):
        assert len(np.unique(block["evaluations"])) > 2
    alone = of(start, protocol, seeds=(1,), **told)
    part = block.isel(run=block["seed"].values == 1)
    for name in alone.data_vars:
        np.testing.assert_allclose(alone[name], part[name], rtol=1e-6, atol=1e-12, err_msg=name)


def refused(*told, **more):
    with pytest.raises(UserError) as caught:
        finetuned(*told, **more)
    return str(caught.value)


def test_what_does_not_fit_is_refused_in_a_sentence(start):
    assert refused(start, "finetuning", solver="exact") == "finetuning has no solver exact: choose descent or flow."
    assert refused(start, teacher_scale=(1.0,), width=13) == "width is 13, but the pretrained networks have 12."
    assert refused(start, teacher_scale=(3.0, 2.0)) == (
        "the pretrained shard has the teacher_scale [1.0, 3.0], but not [2.0]."
    )
    assert refused(start, teacher_scale=(1.0,), seeds=(2, 7)) == (
        "the pretrained shard has the seeds [0, 1, 2], but not [7]."
    )
