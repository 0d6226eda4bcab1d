"""Sparse linear teachers and inputs on the sphere: the tasks of diagonal linear networks.

The auxiliary task uses the first dimensions of a random order; a main task with k features shares some of them and
takes the rest from outside. So tasks of one seed are nested in each other, and differ in nothing but what is asked.
"""

import numpy as np

from carryover.errors import UserError


def magnitude(features, norm):
    """Coefficient of each of `features` active dimensions: 1/√k for a teacher of unit ℓ2 norm, 1/k for unit ℓ1 norm."""
    return {"l1": 1 / features, "l2": features**-0.5}[norm]


def whole_share(overlap, features):
    """The number of shared features of a main task, `overlap` · `features`; UserError where it is not an integer."""
    shared = round(overlap * features)
    if abs(shared - overlap * features) > 1e-9:
        raise UserError(f"overlap {overlap} of {features} main features is {overlap * features:g}, no whole number.")
    return shared


def auxiliary_teacher(rng, dimension, features, norm):
    """(order, signs, coefficients): a random order of the dimensions, a sign each, and the teacher, all of shape (D,).

    The sign belongs to the dimension, so a shared feature has the same sign in both tasks. `features` dimensions are
    active; `norm` is "l1" or "l2", see `magnitude`. UserError where there are fewer dimensions.
    """
    if features > dimension:
        raise UserError(f"{features} auxiliary features do not fit into {dimension} input dimensions.")
    order, signs = rng.permutation(dimension), rng.choice([-1.0, 1.0], dimension)
    beta = np.zeros(dimension)
    beta[order[:features]] = magnitude(features, norm) * signs[order[:features]]
    return order, signs, beta


def main_teacher(order, signs, auxiliary_features, features, overlap, norm):
    """Coefficients (D,) of a main task with `features` active dimensions, of which a fraction `overlap` is shared.

    Shared dimensions are active in the auxiliary task too, which has `auxiliary_features` of them; `order` and `signs`
    (D,) are those of `auxiliary_teacher`, and `norm` is as in `magnitude`. UserError where the features do not fit.
    """
    shared, dimension = whole_share(overlap, features), len(order)
    if shared > auxiliary_features:
        raise UserError(
            f"overlap {overlap} of {features} main features asks for {shared} shared ones, "
            f"but the auxiliary task has only {auxiliary_features}."
        )
    if features - shared > dimension - auxiliary_features:
        raise UserError(
            f"{features - shared} new features do not fit into the {dimension - auxiliary_features} dimensions "
            f"that the auxiliary task leaves of {dimension}."
        )
    # The auxiliary task has the first dimensions of `order`; new features come after these.
    active = np.concatenate([order[:shared], order[auxiliary_features : auxiliary_features + features - shared]])
    beta = np.zeros(dimension)
    beta[active] = magnitude(features, norm) * signs[active]
    return beta


def unit_vectors(rng, count, dimension):
    """(count, D) uniform on the unit sphere; fewer are the first of more."""
    drawn = rng.standard_normal((count, dimension))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def sphere(rng, samples, dimension):
    """(samples, D) inputs uniform on the sphere of radius √D, so that their covariance is the identity.

    A longer draw from the same generator starts with the same rows.
    """
    x = rng.standard_normal((samples, dimension))
    return x * (np.sqrt(dimension) / np.linalg.norm(x, axis=1, keepdims=True))
