"""What runs of the ReLU family start from, what they see, and what is refused."""

from functools import partial

import numpy as np
import pytest

from carryover.families.relu import parameters
from toy.refusal import refused
from toy.relu_toys import FITTED, TASK, TRAINED, finetuned, pretrained, problems

PROTOCOLS = (*TRAINED, *FITTED)


@pytest.fixture(scope="module")
def start():
    return pretrained()


# What a run sees.


def test_protocols_and_starts_of_a_seed_share_teacher_data_and_weights(start):
    (reference,) = problems(start, protocol="single_task")
    for protocol in PROTOCOLS:
        several = {"rescale": (1.0, 0.1)} if protocol in parameters.WHOLE["protocol"] else {}
        (problem,) = problems(start, protocol=protocol, **several)
        task, each = problem.tasks[0], problem.tasks[0].sets
        assert each.tolist() == ([0, 0, 1, 1] if several else [0, 1])
        np.testing.assert_array_equal(task.X, reference.tasks[0].X)
        np.testing.assert_array_equal(task.y, reference.tasks[0].y[each])
        np.testing.assert_array_equal(problem.teacher.first, reference.teacher.first[each])
        np.testing.assert_array_equal(problem.teacher.second, reference.teacher.second[each])
        if protocol in parameters.SCRATCH and not several:
            np.testing.assert_array_equal(problem.start.first, reference.start.first)
            np.testing.assert_array_equal(problem.start.second[:, 0], reference.start.second[:, 0])


def test_multi_task_sees_the_auxiliary_data_of_pretraining(start):
    (alone,) = problems(run=partial(pretrained, seeds=(0, 1)))
    (together,) = problems(start, protocol="multi_task", auxiliary_samples=12, solver="descent")
    np.testing.assert_array_equal(together.tasks[1].X, alone.tasks[0].X[:, :12])
    np.testing.assert_array_equal(together.tasks[1].y, alone.tasks[0].y[:, :12])
    np.testing.assert_array_equal(together.start.second[:, 1], alone.start.second[:, 0] / 0.5 * 1e-3)


def test_cross_entropy_learns_on_which_side_of_zero_the_teacher_is(start):
    for protocol in TRAINED:
        told = {"protocol": protocol, "main_features": (1,), "overlap": (1.0,), "samples": (40,)}
        (outputs,) = problems(start, **told)
        (labels,) = problems(start, **told, loss="cross_entropy")
        assert (outputs.tasks[0].y == 0).any()  # one unit is silent on half of the inputs
        for label, output in zip(labels.tasks, outputs.tasks, strict=True):
            np.testing.assert_array_equal(label.X, output.X)
            np.testing.assert_array_equal(label.y == 1, output.y > 0)
            np.testing.assert_array_equal(np.abs(label.y), 1)
    (labels,) = problems(run=partial(pretrained, loss="cross_entropy", auxiliary_features=1))
    np.testing.assert_array_equal(np.abs(labels.tasks[0].y), 1)


# Where networks start.


def test_finetuning_starts_from_the_pretrained_first_layer_under_a_new_readout(start):
    for protocol in parameters.PRETRAINED:
        data = finetuned(start, protocol, seeds=(2, 0), readout_scale=0.07)
        np.testing.assert_array_equal(data["start_first"], start["first"].values[[2, 0]])
        scratch = finetuned(start, "single_task", seeds=(2, 0), initial_scale=(0.07,), max_epochs=1)
        np.testing.assert_array_equal(data["start_second"], scratch["start_second"])
        assert np.isnan(data["initial_scale"]).all()


@pytest.mark.parametrize(("rescaled", "readout"), [("first", 1.0), ("both", 0.1)])
@pytest.mark.parametrize("protocol", parameters.WHOLE["protocol"])
def test_rescaling_multiplies_the_first_layer_or_both(start, protocol, rescaled, readout):
    data = finetuned(start, protocol, rescale=(1.0, 0.1), rescaled=rescaled, seeds=(1,), max_epochs=1)
    (plain,) = problems(start, protocol=protocol, seeds=(1,))
    for name, factor in (("first", 0.1), ("second", readout)):
        whole = getattr(plain.start, name)[0]
        np.testing.assert_allclose(data[f"start_{name}"], [whole, factor * whole], rtol=1e-6)
    assert data["rescale"].values.tolist() == [1.0, 0.1]


@pytest.mark.parametrize("protocol", parameters.SCRATCH)
def test_from_scratch_both_layers_are_normal_with_the_variance_of_he(start, protocol):
    brief = {"max_epochs": 1} if protocol in TRAINED else {}
    (problem,) = problems(start, protocol=protocol, width=1000, initial_scale=(1.0, 0.2), seeds=(0,), **brief)
    one, small = problem.start.first
    np.testing.assert_allclose(small, 0.2 * one, rtol=1e-13)
    np.testing.assert_allclose(problem.start.second[1], 0.2 * problem.start.second[0], rtol=1e-13)
    for layer, fan_in in ((one, TASK["dimension"]), *((readout, 1000) for readout in problem.start.second[0])):
        unit = layer.ravel() / np.sqrt(2 / fan_in)
        assert abs(unit.mean()) < 4 / np.sqrt(unit.size)
        assert abs((unit**2).mean() - 1) < 4 * np.sqrt(2 / unit.size)
        assert abs((unit**4).mean() - 3) < 4 * np.sqrt(96 / unit.size)
    if protocol == "multi_task":
        main, auxiliary = problem.start.second[0]
        assert abs(np.corrcoef(main, auxiliary)[0, 1]) < 4 / np.sqrt(1000)


def test_layers_of_a_ratio_keep_the_sum_of_their_squares():
    (alike,), (small,) = (
        problems(run=partial(pretrained, seeds=(0,), width=5000, layer_ratio=ratio)) for ratio in (0, 0.1)
    )
    (before, readout), (after, factor) = (
        ((network.start.first**2).sum(2).mean(), (network.start.second**2).mean()) for network in (alike, small)
    )
    assert np.sqrt(after / factor) == pytest.approx(0.1, rel=0.05)
    assert after + factor == pytest.approx(before + readout, rel=0.05)


def test_pretrained_weights_are_turned_apart_and_keep_their_lengths(start):
    (plain,), (same, more) = problems(start), problems(start, samples=(4, 6), angular_noise=0.01)
    first, turned = plain.start.first, same.start.first
    np.testing.assert_array_equal(turned, more.start.first)
    lengths = np.linalg.norm(first, axis=2)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=2), lengths, rtol=1e-6)
    cosines = (first * turned).sum(2) / lengths**2
    # Of the noise, whose square is 1e-4 in all, a part of 1/D only lengthens.
    np.testing.assert_allclose((2 * (1 - cosines)).mean(), 1e-4 * (1 - 1 / TASK["dimension"]), rtol=0.5)
    assert len(np.unique(cosines.round(9))) > 9
    np.testing.assert_array_equal(same.start.second, plain.start.second)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        *(({"protocol": name, "solver": "descent"}, f"{name} has no solver descent: choose ridge.") for name in FITTED),
        (
            {"main_features": (4,), "overlap": (1.0,)},
            "main unit 4 correlates with an auxiliary one, but there are only 3.",
        ),
        ({"seeds": (1, 4, 5)}, "the pretrained shard has the seed [0, 1, 2], but not [4, 5]."),
        ({"dimension": 6}, "dimension is 6, but the pretrained networks have 7."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(start, told, sentence):
    assert refused(finetuned, start, **told) == sentence
