"""Linear regression on all training images of two classes, of which each set is decomposed once.

Ten classes give 45 sets of two, and thousands of pairs of tasks on them: neither the images of a class nor those of a
set are gone through again for every pair. Rotations alone are used, so that it is as good as a decomposition of the
images themselves.
"""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Regression:
    """Images X = U S Vᵀ of two classes and their labels y, 1 for the first class and −1 for the second."""

    values: np.ndarray  # (d,) singular values S from the largest, 0 beyond the images' number
    directions: np.ndarray  # (d, d) Vᵀ, all directions
    labels: np.ndarray  # (d,) Uᵀy
    count: int  # images

    def coefficients(self, cutoffs):
        """X⁺y without the singular values up to each cutoff (k,), a share of the largest: (k, d).

        It is the solution of least norm, which gradient descent from 0 ends at; at least rounding is left out.
        """
        rounding = max(self.count, len(self.values)) * np.finfo(float).eps
        retained = self.values > np.maximum(cutoffs, rounding)[:, None] * self.values[0]
        along = np.divide(self.labels, self.values, out=np.zeros(retained.shape), where=retained)
        return along @ self.directions

    def loss(self, coefficients):
        """Half the mean squared error (k,) of coefficients (k, d)."""
        beyond = max(0.0, self.count - self.labels @ self.labels)  # labels that no function of the pixels has
        residual = coefficients @ self.directions.T * self.values - self.labels
        return ((residual**2).sum(-1) + beyond) / self.count / 2

    def explained(self, coefficients):
        """Share (k,) of the labels' mean square that functions with coefficients (k, d) explain, each times the best
        number; NaN of those that are 0 on all images."""
        outputs = coefficients @ self.directions.T * self.values
        with np.errstate(invalid="ignore"):
            return (outputs @ self.labels) ** 2 / ((outputs**2).sum(-1) * self.count)

    @property
    def spectrum(self):
        """Eigenvalues (d,) of the second moments XᵀX/n, in the order of the directions."""
        return self.values**2 / self.count


class Regressions:
    """`Regression` of any two classes of a `task.Split`."""

    def __init__(self, split):
        self._split, self._triangles, self._known = split, {}, {}

    def of(self, first, second):
        """`Regression` that tells the first class from the second."""
        key = min(first, second), max(first, second)
        if key not in self._known:
            self._known[key] = self._decomposed(*key)
        known = self._known[key]
        return known if key == (first, second) else replace(known, labels=-known.labels)

    def _decomposed(self, first, second):
        (one, ones), (other, others) = map(self._triangle, (first, second))
        dimension = one.shape[1] - 1
        both = np.linalg.qr(np.concatenate([one, other * np.append(np.ones(dimension), -1)]), mode="r")[:dimension]
        left, values, directions = np.linalg.svd(both[:, :-1])
        padded = np.zeros((2, dimension))
        padded[:, : len(values)] = values, left.T @ both[:, -1]
        return Regression(padded[0], directions, padded[1], ones + others)

    def _triangle(self, label):
        """The images of a class with their labels 1 in a last column, rotated to few rows, and how many they are."""
        if label not in self._triangles:
            pixels = self._split.pixels[self._split.members(label)]
            labelled = np.concatenate([pixels, np.ones((len(pixels), 1))], axis=1)
            self._triangles[label] = np.linalg.qr(labelled, mode="r"), len(pixels)
        return self._triangles[label]
