"""Pairs of tasks on images: what is held out, regressions on two classes, errors and bounds by plain computation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import lstsq
from sklearn.datasets import load_digits

from carryover.config.plugins import model_of
from carryover.errors import UserError
from carryover.families.image_pairs import pretrain, solvers
from carryover.families.stages import Shard
from toy import shards
from toy.image_pair_toys import finetuned, pretrained


def parameters(**told):
    return model_of("families.image_pairs", "task")(**told)


def test_pairs_are_of_four_different_classes_and_differ():
    classes = (7, 2, 5, 0, 9)
    found = [(*source, *target) for _, source, target in pretrain.pairs(parameters(classes=classes, pairs=60), "toy")]
    assert len(set(found)) == 60  # 5!/1!, halved for the order within the source task
    assert all(len(set(four)) == 4 and set(four) <= set(classes) for four in found)
    swapped = {(b, a, d, c) for a, b, c, d in found}
    assert not swapped & set(found)
    sharing = {(*source, *target) for _, source, target in
               pretrain.pairs(parameters(classes=classes, pairs=180, shared=True), "toy")}  # fmt: skip
    assert len(sharing) == 180  # ten times twenty, less the ten tasks with themselves in either order
    others = pretrain.pairs(parameters(classes=classes, pairs=60), "other")
    assert found[:3] != [(*source, *target) for _, source, target in others[:3]]


def test_what_the_images_cannot_give_is_refused():
    start = pretrained()
    cases = [
        ({"classes": (0, 3, 11, 5)}, r"classes names \[11\], but the classes with two images or more are \[0, 1, .*"),
        ({"classes": (0, 1, 2)}, "pairs is 3, but 3 classes give 0 pairs of tasks: lower pairs or add classes."),
        ({"classes": (0, 1, 2, 3), "pairs": 13}, "pairs is 13, but 4 classes give 12 pairs of tasks: .*"),
    ]
    for told, said in cases:
        for stage in (pretrained, finetuned):
            with pytest.raises(UserError, match=said):
                stage(**told)
    with pytest.raises(UserError, match=r"samples has 400, but the classes \d and \d have 2\d\d training images: "):
        finetuned(samples=(5, 400))
    with pytest.raises(UserError, match=r"the pretrained shard has the estimator \['cutoff_0.01', 'least_squares'\], "):
        finetuned(start, estimator=("ridge_0.5",))
    with pytest.raises(UserError, match=r"no network of seed 0, pixels raw, pair \d, "):
        finetuned(start, experiment="other")


ESTIMATORS = ("least_squares", "cutoff_0.01", "cutoff_0.3", "ridge_0.01", "descent_7")


def split(counts, dimension=9, blank=2):
    """Classes 0, 1, … of so many training images each, and as many test images, with pixels that are always 0 or nearly
    always."""
    rng = np.random.default_rng(3)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), 2 * np.array(counts)))
    pixels = rng.random((len(labels), dimension)) ** 4
    pixels[:, :blank] = 0
    pixels[:, blank] = 0
    train = np.zeros(len(labels), dtype=bool)
    for label, count in enumerate(counts):
        train[rng.permutation(np.flatnonzero(labels == label))[:count]] = True
    pixels[np.flatnonzero((labels == 1) & train)[0], blank] = 1 / 255  # one image alone has it
    return pretrain.Split(pixels, labels, train, ~train)


def plain(pixels, labels, estimator):
    """Coefficients by SciPy's least squares, by a penalty in further rows, or step by step."""
    kind, _, number = estimator.partition("_")
    largest = np.linalg.norm(pixels, 2)
    if kind == "ridge":
        rows = np.sqrt(float(number)) * largest * np.eye(pixels.shape[1])
        return lstsq(np.concatenate([pixels, rows]), np.append(labels, np.zeros(len(rows))))[0]
    if kind == "descent":
        theta = np.zeros(pixels.shape[1])
        for _ in range(int(number)):
            theta += pixels.T @ (labels - pixels @ theta) / largest**2
        return theta
    cond = float(number) if kind == "cutoff" else max(pixels.shape) * np.finfo(float).eps
    return lstsq(pixels, labels, cond=cond)[0]


@pytest.mark.parametrize("counts", [(40, 30, 50), (20, 3, 2), (2, 3, 1)], ids=["many", "some", "few"])
@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (2, 1)])
def test_it_is_the_regression_on_the_images(counts, pair):
    known = split(counts)
    pixels, labels = known.task(*pair)
    found = pretrain.regressions(known)(*pair)
    coefficients = found.coefficients(ESTIMATORS)
    start = np.linspace(-1, 1, 9)
    for mine, onward, estimator in zip(coefficients, found.coefficients(ESTIMATORS, start), ESTIMATORS, strict=True):
        np.testing.assert_allclose(mine, plain(pixels, labels, estimator), rtol=1e-8, atol=1e-9)
        expected = start + plain(pixels, labels - pixels @ start, estimator)
        np.testing.assert_allclose(onward, expected, rtol=1e-8, atol=1e-8)
    losses = [((pixels @ mine - labels) ** 2).mean() / 2 for mine in coefficients]
    np.testing.assert_allclose(found.loss(coefficients), losses, atol=1e-12)
    for mine, share in zip(coefficients, found.explain(coefficients), strict=True):  # by a fit of one number
        left = lstsq((pixels @ mine)[:, None], labels)[0][0] * pixels @ mine - labels
        assert share == pytest.approx(1 - (left**2).mean() / (labels**2).mean(), abs=1e-9)
    assert np.isnan(found.explain(np.zeros((1, 9)))).all()
    moments = found.directions.T @ (found.spectrum[:, None] * found.directions)
    np.testing.assert_allclose(moments, pixels.T @ pixels / len(pixels), atol=1e-14)
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(9), atol=1e-13)
    if found.count > 40:  # the pixel of one image is learned by least squares, and left out with the smallest cutoff
        assert abs(coefficients[0, 2]) > 1
        assert abs(coefficients[1, 2]) < 1e-3


@pytest.fixture(scope="module")
def start():
    return pretrained()


def followed(*arguments, **told):
    """The dataset and, in order, the problems that the solver was handed."""
    data, seen = shards.followed(finetuned, *arguments, **told)
    return data, [problem for problem, _ in seen]


def least_squares(pixels, labels, start, cutoff=1e-13):
    return start + lstsq(pixels, labels - pixels @ start, cond=cutoff)[0]


@pytest.mark.parametrize("protocol", ["finetuning", "single_task"])
def test_a_run_is_what_a_plain_computation_gives(start, protocol):
    data, problems = followed(start if protocol == "finetuning" else None)
    assert data.sizes["run"] == 2 * len(problems) == 2 * 3 * 2 * 2  # seeds, pairs, estimators, sizes
    assert set(data["protocol"].values) == {protocol}
    splits = {names["seed"]: split for names, split in pretrain.splits(parameters(), Shard("toy", [0, 1]))}
    for number in (0, 7, 17, 23):
        run, problem = data.isel(run=number, output=0), problems[number // 2]
        start = problem.start[number % 2]
        c, d = map(int, str(run["target_classes"].values).split())
        split = splits[int(run["seed"])]
        known, found = split.task(c, d), split.task(c, d, "test")
        cutoff = {"least_squares": 1e-13, "cutoff_0.01": 0.01}[run["estimator"].item()]
        target = least_squares(*known, np.zeros(64), cutoff)
        if protocol == "finetuning":
            a, b = map(int, str(run["source_classes"].values).split())
            begin = least_squares(*split.task(a, b), np.zeros(64), cutoff)
        else:
            begin = np.zeros(64)
        np.testing.assert_allclose(start, begin, atol=1e-6 * (1 + abs(begin).max()))
        errors = []
        for pixels, labels in zip(problem.pixels, problem.labels, strict=True):
            scores = found[0] @ least_squares(pixels, labels, start)
            errors.append(np.mean(np.where(scores > 0, 1.0, -1.0) != found[1]))
        assert run["risk_final"] == pytest.approx(np.mean(errors))
        assert run["loss"] < 1e-12  # fewer samples than dimensions are fitted
        distance = ((target - begin) ** 2).sum()
        assert run["distance"] == pytest.approx(distance, rel=1e-5)
        _check_bounds(run, target - begin, known[0])


def _check_bounds(run, difference, pixels):
    """Bartlett et al.'s and equation 3 in the singular vectors of the images."""
    _, values, directions = np.linalg.svd(pixels / np.sqrt(len(pixels)))
    n, variance = float(run["samples"]), values**2
    share = variance.sum() / variance[0] / n
    benign = (difference @ difference) * variance[0] * max(np.sqrt(share), share)
    assert run["benign_overfitting"] == pytest.approx(benign, rel=1e-5)
    g = variance[0] * max(np.sqrt(share), share, np.sqrt(1 / n), 1 / n)
    parts = (directions @ difference) ** 2
    covariance = 2 * g**3 * parts[:2].sum() / variance[1] ** 2 + 2 * g * parts[2:].sum()
    assert run["covariance"] == pytest.approx(covariance, rel=1e-5)
    assert run["covariance_top"] == pytest.approx(2 * g**3 * parts[:2].sum() / variance[1] ** 2, rel=1e-5)


def test_samples_are_training_images_and_fewer_are_part_of_more(start):
    data, sets = followed(start, seeds=(1,))
    ((_, split),) = pretrain.splits(parameters(), Shard("toy", [1]))
    assert [problem.pixels.shape for problem in sets[:2]] == [(3, 6, 64), (3, 11, 64)]
    digits = {tuple(row): label for row, label in zip(load_digits().data / 16, load_digits().target, strict=True)}
    for number, (few, many) in enumerate(zip(sets[::2], sets[1::2], strict=True)):
        np.testing.assert_array_equal(many.pixels[:, :6], few.pixels)
        np.testing.assert_array_equal(many.labels[:, :6], few.labels)
        first, second = map(int, str(data["target_classes"].values[4 * number]).split())
        allowed = set(map(tuple, split.task(first, second)[0]))
        for pixels, labels in zip(many.pixels, many.labels, strict=True):
            assert len({tuple(row) for row in pixels} & allowed) == 11
            assert [digits[tuple(row)] == first for row in pixels] == (labels == 1).tolist()
        assert (many.pixels[0] != many.pixels[1]).any()
    _, scratch = followed(seeds=(1,))
    np.testing.assert_array_equal(scratch[1].pixels, sets[1].pixels)


@pytest.mark.parametrize("estimator", [("least_squares",), ("least_squares", "cutoff_0.01")])
def test_gradient_descent_ends_at_the_limit_and_its_steps_are_those_of_a_plain_loop(estimator):
    start = pretrained(estimator=estimator)
    limit, problems = followed(start, samples=(6,), estimator=estimator)
    told = {"samples": (6,), "estimator": estimator, "solver": "descent"}
    trained = finetuned(start, tolerance=1e-12, **told)
    assert trained["converged"].all()
    np.testing.assert_allclose(trained["risk_final"], limit["risk_final"], atol=1e-12)
    np.testing.assert_allclose(trained["loss"], 0, atol=1e-12)
    problem = problems[0]
    for steps in (1, 30):
        p = model_of("families.image_pairs", "finetune")(pairs=3, solver="descent", max_steps=steps, tolerance=0.0)
        found = solvers.descent(problem, p)
        assert not found.converged.any()
        assert (found.evaluations == steps).all()
        for run, draw in ((0, 0), (len(estimator) - 1, 2)):
            X, y, beta = problem.pixels[draw], problem.labels[draw], problem.start[run].copy()
            for _ in range(steps):
                beta -= p.learning_rate * X.T @ (X @ beta - y) / 6
            np.testing.assert_allclose(found.weights[run, draw], beta, rtol=1e-9, atol=1e-11)


def test_runs_end_one_by_one_and_a_step_that_is_too_large_is_refused():
    _, problems = followed(pretrained(), samples=(6,))
    p = model_of("families.image_pairs", "finetune")(pairs=3, solver="descent", tolerance=1e-3)
    together = solvers.descent(problems[0], p)
    assert together.evaluations[0] != together.evaluations[1]
    for run in (0, 1):
        alone = solvers.descent(replace(problems[0], start=problems[0].start[[run]]), p)
        assert alone.evaluations[0] == together.evaluations[run]
        np.testing.assert_allclose(alone.weights[0], together.weights[run], rtol=1e-10)
    with pytest.raises(UserError, match="learning_rate is 5, but descent diverges from"):
        solvers.descent(problems[0], p.model_copy(update={"learning_rate": 5.0}))
