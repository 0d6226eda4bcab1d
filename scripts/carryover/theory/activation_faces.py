"""The cones into which samples cut the space of a ReLU unit's input weights, and all of their faces.

Within a cone the unit is active on the same samples, so that functions like g(w) = Σ_i λ_i relu(w · x_i) are linear. A
face of a cone is where some of the products w · x_i vanish besides; a point is inside of exactly one face. There are
about 2 (n − 1 choose D − 1) cones, and a few times as many faces: few for few samples in few dimensions.
"""

from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from carryover.theory.arguments import Array

MOST = 500_000  # faces
_APART = 1e-9  # of the lengths of both, a product of a sample and a ray that is taken to be 0


class Faces:
    """All faces, the origin too, of the cones of samples (n, D), n ≥ D ≥ 1, of which any D are linearly independent.

    `signs` (F, n) are those of w · x_i, −1, 0 or 1, and `projections` (F, D, D) go to the span of each face.

    Raises ValueError for samples that are not independent, and where there would be too many faces.
    """

    def __init__(self, X: Array) -> None:
        n, D = X.shape
        if 2 * comb(n, D - 1) * 3 ** (D - 1) > MOST:
            raise ValueError(f"{n} samples in {D} dimensions have too many activation patterns to go through")
        self.X = X
        # With their opposites, the rays are the edges of all cones: unit vectors along which D − 1 samples vanish.
        chosen = np.array(list(combinations(range(n), D - 1)))
        self.rays = np.linalg.svd(X[chosen])[2][:, -1] if D > 1 else np.ones((1, 1))
        products = self.rays @ X.T
        if ((np.abs(products) <= _APART * np.linalg.norm(X, axis=1)).sum(1) != D - 1).any():
            raise ValueError(f"any {D} samples must be linearly independent")
        # About a ray, the products that vanish on it have every combination of signs.
        around = np.repeat(np.sign([products, -products]).astype(np.int8).reshape(-1, 1, n), 3 ** (D - 1), axis=1)
        smallest = np.argsort(np.abs(products), axis=1)[:, : D - 1]
        every = np.array(list(product((-1, 0, 1), repeat=D - 1)), dtype=np.int8)
        np.put_along_axis(around, np.tile(smallest, (2, 1))[:, None], every[None], axis=2)
        origin = np.zeros((1, n), dtype=np.int8)
        self.signs = np.unique(np.concatenate([around.reshape(-1, n), origin]), axis=0)
        vanishing = np.where((self.signs == 0)[..., None], X, 0.0)  # (F, n, D), of rank D at the origin alone
        self.projections = np.eye(D) - np.linalg.pinv(vanishing, rtol=_APART) @ vanishing
        self._active = (self.signs > 0).astype(float)

    def slopes(self, multipliers: Array) -> Array:
        """c (F, D) in the span of each face, such that Σ_i λ_i relu(w · x_i) = c · w there; λ (n,)."""
        return np.einsum("fde,fe->fd", self.projections, (self._active * multipliers) @ self.X)

    def inside(self, points: Array) -> NDArray[np.bool_]:
        """Whether points (..., F, D), each in the span of its face, are inside of it, (..., F)."""
        return ((self.signs * (points @ self.X.T) > 0) | (self.signs == 0)).all(-1)
