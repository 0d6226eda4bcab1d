"""Tasks and datasets of mean-field networks: equations 16 and 17, runs alone and together, and what is refused."""

import numpy as np
import pytest

from carryover.config.plugins import model_of
from carryover.families.mean_field import parameters, pretrain
from carryover.families.stages import Shard
from toy.mean_field_toys import TASK, finetuned, followed, outputs, pretrained
from toy.refusal import refused

P = model_of("families.mean_field", "pretrain")(**TASK)


def teachers(p, seed, scale, ablated=0.0):
    """The teachers of the target and of the source."""
    shard, networks = Shard("toy", [seed]), {"seed": [seed], "teacher_scale": np.array([scale]), "ablated": [ablated]}
    targets = pretrain.targets(p, shard, networks)
    return targets[0], pretrain.sources(p, shard, networks, targets)[0]


@pytest.fixture(scope="module")
def start():
    return pretrained(teacher_scale=(1.0, 3.0), anchor=(0.0, 0.5))


def of(start, protocol, **told):
    given = start if protocol in parameters.PRETRAINED else None
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
    told = {"draws": 3, "samples": (4,), "noise": 0.5, "teacher_scale": (1.0, 3.0)}
    cases = [
        (None, "single_task", {"max_steps": 1}),
        (start, "linear_transfer", {}),
        (start, "linear_transfer", {"samples": (9,)}),
        (start, "linear_transfer", {"noise": 0.0}),
    ]
    found = [followed(given, protocol, **{**told, **more})[:2] for given, protocol, more in cases]
    scratch, linear, longer, clean = (problem.task for _, problem in found)
    assert scratch.X.shape == (6, 4, 4)
    assert len(np.unique(scratch.X[:, 0, 0])) == 6
    np.testing.assert_array_equal(scratch.X, linear.X)
    np.testing.assert_array_equal(longer.X[:, :4], linear.X)
    np.testing.assert_allclose(longer.y[:, :4], linear.y)
    runs = [zip(*(data[name].values.tolist() for name in ("seed", "teacher_scale", "draw")), strict=True)
            for data, _ in found]  # fmt: skip
    targets = dict(zip(runs[0], scratch.y, strict=True))
    for run, y in zip(runs[1], linear.y, strict=True):
        np.testing.assert_array_equal(y, targets[run])
    noise = linear.y - clean.y
    assert 0.2 < noise.std() < 0.9
    for which in range(6):
        same = noise[linear.sets == which]
        np.testing.assert_allclose(same, np.broadcast_to(same[0], same.shape), atol=1e-12)
    assert clean.y[0] == pytest.approx(outputs(teachers(P, 0, 1.0)[0], clean.X[0]))


def test_what_does_not_fit_is_refused_in_a_sentence(start):
    assert refused(finetuned, start, "finetuning", solver="exact") == "finetuning has no solver exact: choose flow."


LARGE = model_of("families.mean_field", "pretrain")(**{**TASK, "teacher_units": 2000, "width": 3000, "dimension": 5})


def mean_output(directions, readout, X):
    """Equation 17, unit by unit."""
    return sum(c * np.maximum(X @ w, 0) for w, c in zip(directions, readout, strict=True)) / len(readout)


def test_the_target_is_a_mean_over_units_on_the_sphere_of_random_sign():
    teacher, _ = teachers(LARGE, 0, 3.0)
    np.testing.assert_allclose(np.linalg.norm(teacher.first, axis=1), 1)
    assert np.abs(teacher.first.mean(0)).max() < 5 / np.sqrt(2000 * 5)
    assert abs(teacher.second.mean()) < 5 * 3 / np.sqrt(2000)
    assert abs(teacher.second.std() / 3 - 1) < 5 / np.sqrt(2 * 2000)
    X = np.random.default_rng(0).standard_normal((7, 5))
    np.testing.assert_allclose(outputs(teacher, X), mean_output(teacher.first, teacher.second[0], X))


@pytest.mark.parametrize("ablated", [0.0, 0.25, 0.75])
def test_the_source_is_a_mean_over_the_units_that_are_kept(ablated):
    X = np.random.default_rng(0).standard_normal((7, 4))
    target, source = teachers(P, 1, 2.0, ablated)
    kept = source.second[0] != 0
    assert kept.sum() == 4 * (1 - ablated)
    expected = mean_output(target.first[kept], target.second[0, kept], X)  # divided by the kept ones, (1 − μ) m*
    np.testing.assert_allclose(outputs(source, X), expected)


@pytest.mark.parametrize(("ablated", "left"), [(0.9, "0.4"), (1.0, "0"), (0.3, "2.8")])
def test_a_source_without_a_whole_number_of_units_is_refused(ablated, left):
    assert refused(teachers, P, 0, 1.0, ablated) == (
        f"ablated {ablated:g} of 4 teacher_units leaves {left}: it must be a whole number, 1 at least."
    )
