"""Pairs of binary tasks on classes of images, the problem of finetuning, and pretraining on a source task.

"Finetuning with linear teachers", section 4.2: a source task tells class a from b, a target task class c from d, all
four different, as regression to 1 and −1. The paper leaves open which pixels it takes and whether there is an
intercept: there is none here, and `pixels` says whether a mean image is subtracted. Its theory takes pretraining to be
perfect. Then coefficients are largest along what the images hardly vary in, which training would take very long to
learn: other estimators than least squares leave these directions out, or shrink them.
`p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations, product

import numpy as np

from carryover.errors import UserError
from carryover.families.stages import Batch
from carryover.streams import generator
from carryover.tasks import images as image_sets

HELD_OUT = 0.2  # share of each class's images that is for the test
MEANING = {
    "pair": "number of the pair of a source and a target task",
    "source_classes": "classes that the source task tells apart",
    "target_classes": "classes that the target task tells apart",
    "estimator": "how the coefficients of a task are found from all its training images",
    "target_from": "where the estimator of the target's coefficients starts: 0, or the source's",
    "pixels": "pixels between 0 and 1 (raw), less the mean of all training images (centred), over their deviation too",
    "samples": "images of the target task",
}


@dataclass(frozen=True)
class Problem:
    """Linear regressions, from each start on every draw of samples: a run is a start, and its errors are means."""

    pixels: np.ndarray  # (draws, n, d)
    labels: np.ndarray  # (draws, n), 1 or −1
    start: np.ndarray  # (runs, d), coefficients before training
    tests: tuple[np.ndarray, np.ndarray]  # pixels (tests, d) and labels (tests,)


def problems(p, shard):
    """Yield a `Batch` for each seed, kind of pixels, and pair of a source and a target task. It has one run for each
    estimator of the source task's coefficients; the target's classes only serve to name the pair."""
    tasks = pairs(p, shard.experiment)
    for names, split in splits(p, shard):
        regression = regressions(split)
        for columns, source, _ in tasks:
            runs = names | columns | {"estimator": list(p.estimator)}
            yield Batch(regression(*source), runs, _variables, MEANING)


def _variables(trained):
    coefficients = trained.weights[:, None]
    return {"coefficients": (("run", "output", "input"), coefficients, "coefficients θ_S of the source task")}


def pairs(p, experiment):
    """[(columns, (a, b), (c, d))] of `pairs` different pairs of a source and a target task, by their classes.

    Columns are such as {'pair': 0, 'source_classes': '2 3', 'target_classes': '5 6'}. Source and target have no class
    in common, or, if `shared`, not both. The classes of a source task are in the order of `classes`: to exchange them
    in both tasks changes no error. UserError where there are not as many.
    """
    apart = (lambda a, b: a != b) if p.shared else set.isdisjoint
    possible = [
        (*source, *target)
        for source, target in product(combinations(p.classes, 2), permutations(p.classes, 2))
        if apart({*source}, {*target})
    ]
    if len(possible) < p.pairs:
        given = f"{len(p.classes)} classes give {len(possible)} pairs of tasks"
        raise UserError(f"pairs is {p.pairs}, but {given}: lower pairs or add classes.")
    drawn = generator(experiment, "", 0, "pairs").choice(len(possible), size=p.pairs, replace=False)
    return [
        ({"pair": number, "source_classes": f"{a} {b}", "target_classes": f"{c} {d}"}, (a, b), (c, d))
        for number, (a, b, c, d) in enumerate(possible[index] for index in drawn)
    ]


@dataclass(frozen=True)
class Split:
    """Images for training and for the test."""

    pixels: np.ndarray  # (N, d)
    labels: np.ndarray  # (N,)
    train: np.ndarray  # (N,) whether it is for training
    test: np.ndarray  # (N,) whether it is held out

    def members(self, *classes, part="train"):
        """Indices (n,) of the images of these classes, in increasing order."""
        return np.flatnonzero(np.isin(self.labels, classes) & getattr(self, part))

    def task(self, first, second, part="train"):
        """(pixels (n, d), labels (n,)) of a task: 1 for the first class, −1 for the second."""
        chosen = self.members(first, second, part=part)
        return self.pixels[chosen], np.where(self.labels[chosen] == first, 1.0, -1.0)


def splits(p, shard):
    """(columns, `Split`) for each kind of pixels and seed, which holds out images of its own of the classes asked for.

    Raises UserError for a class that does not exist or has one image alone.
    """
    known = image_sets.images(p.images, p.folder)
    parts = (image_sets.unit_pixels(part, np.float64) for part in (known.train, known.test))
    pixels = np.concatenate([part.reshape(len(part), -1) for part in parts])
    labels = np.concatenate([known.train_labels, known.test_labels])
    classes, counts = np.unique(labels, return_counts=True)
    enough = classes[counts > 1].tolist()
    if missing := [label for label in p.classes if label not in enough]:
        raise UserError(f"classes names {missing}, but the classes with two images or more are {enough}.")
    for seed in shard.seeds:
        test = np.zeros(len(labels), dtype=bool)
        for label in p.classes:
            members = np.flatnonzero(labels == label)
            order = generator(shard.experiment, label, seed, "held out").permutation(members)
            test[order[: max(1, int(HELD_OUT * len(members)))]] = True
        train = np.isin(labels, p.classes) & ~test
        mean, deviation = pixels[train].mean(0), pixels[train].std(0)
        for kind in p.pixels:
            scaled = pixels if kind == "raw" else pixels - mean
            if kind == "standardised":  # pixels that are the same in all training images stay as they are
                scaled /= np.where(deviation > 0, deviation, 1)
            yield {"seed": seed, "pixels": kind}, Split(scaled, labels, train, test)


@dataclass(frozen=True)
class Regression:
    """Images X = U S Vᵀ of two classes and their labels y, 1 for the first class and −1 for the second."""

    values: np.ndarray  # (d,) singular values S from the largest, 0 beyond the images' number
    directions: np.ndarray  # (d, d) Vᵀ, all directions
    labels: np.ndarray  # (d,) Uᵀy
    count: int  # images

    def learning_share(self, estimator):
        """How far an estimator moves the coefficients along each singular direction, (d,), relative to least squares.

        `estimator` is "least_squares", "cutoff_c", which leaves out singular values up to c times the largest,
        "ridge_c", of penalty c times the largest squared one, or "descent_k", of k gradient steps. Singular values that
        are 0 up to rounding have the share 0.
        """
        values = self.values / self.values[0]  # relative to the largest
        kind, _, number = estimator.partition("_")
        known = values > max(self.count, len(values)) * np.finfo(float).eps
        if kind == "cutoff":
            return known & (values > float(number))
        if kind == "ridge":
            return known * values**2 / (values**2 + float(number))
        if kind == "descent":
            # 1 − (1 − λ/λ₁)^steps, of λ = values²
            with np.errstate(divide="ignore"):  # in the first direction a single step suffices
                return known * -np.expm1(int(number) * np.log1p(-(values.clip(max=1) ** 2)))
        return known

    def coefficients(self, estimators, start=0.0):
        """Coefficients (k, d) by each of k estimators, from a start (d,) or (k, d).

        By least squares they are θ + X⁺(y − Xθ), the solution nearest to the start θ, which gradient descent ends at.
        """
        shares = np.array([self.learning_share(estimator) for estimator in estimators])
        missing = self.labels - self.values * (start @ self.directions.T if np.ndim(start) else 0.0)
        along = np.divide(shares * missing, self.values, out=np.zeros(shares.shape), where=shares > 0)
        return start + along @ self.directions

    def loss(self, coefficients):
        """Half the mean squared error (k,) of coefficients (k, d)."""
        beyond = max(0.0, self.count - self.labels @ self.labels)  # labels that no function of the pixels has
        residual = coefficients @ self.directions.T * self.values - self.labels
        return ((residual**2).sum(-1) + beyond) / self.count / 2

    def explain(self, coefficients):
        """Squared cosine (k,) of the labels with the outputs of coefficients (k, d): the share of the labels' mean
        square that the outputs times the best number explain. NaN of outputs that are 0 on all images."""
        outputs = coefficients @ self.directions.T * self.values
        with np.errstate(invalid="ignore"):
            return (outputs @ self.labels) ** 2 / ((outputs**2).sum(-1) * self.count)

    @property
    def spectrum(self):
        """Eigenvalues (d,) of the second moments XᵀX/n, in the order of the directions."""
        return self.values**2 / self.count


def regressions(split):
    """A function of two classes of a `Split`, the `Regression` that tells the first from the second.

    Each class and each set of two is decomposed once: ten classes give 45 sets of two, and thousands of pairs of tasks
    on them. Only rotations are used, so it is as accurate as a decomposition of the images themselves.
    """

    @cache
    def triangle(label):
        """The images of a class with their labels 1 in a last column, rotated to few rows, and how many they are."""
        pixels = split.pixels[split.members(label)]
        return np.linalg.qr(np.column_stack([pixels, np.ones(len(pixels))]), mode="r"), len(pixels)

    @cache
    def regression(first, second):
        """The triangles of both classes, one above the other, are X and y of all images up to a rotation of rows."""
        if first > second:
            known = regression(second, first)
            return replace(known, labels=-known.labels)
        (first_rows, first_count), (second_rows, second_count) = triangle(first), triangle(second)
        dimension = first_rows.shape[1] - 1
        second_rows = second_rows * np.append(np.ones(dimension), -1)  # the labels of the second class are −1
        rows: np.ndarray = np.linalg.qr(np.concatenate([first_rows, second_rows]), mode="r")  # type: ignore[assignment]
        rows = rows[:dimension]
        pixels, labels = rows[:, :-1], rows[:, -1]
        left, values, directions = np.linalg.svd(pixels)
        padded = np.zeros((2, dimension))
        padded[:, : len(values)] = values, left.T @ labels
        return Regression(padded[0], directions, padded[1], first_count + second_count)

    return regression
