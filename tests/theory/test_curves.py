"""Theory curves: constants against brute force, risks against solved networks, and what the papers' figures show."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import beta, binom

from carryover.config import plugins
from carryover.theory.interpolation import interpolation_risk
from carryover.training.exact import diagonal_flow_limit


def curve(name, **told):
    return plugins.call("theory.curves", name, **told)


def test_constants_of_the_covariance_bound_are_the_smallest_without_a_violation_in_the_first_half():
    """And hold for the other half as often as the theorem claims: at most a share exp(−δ) violates."""
    found = curve("covariance_bound", instances=400)
    fitted, tested = (found.isel(instance=found.half == half) for half in (0, 1))
    for suffix, needed in (("", "needed"), ("_estimation", "estimation_needed")):
        assert found[f"c{suffix}"] == fitted[needed].max()
        assert (tested[needed] > found[f"c{suffix}"]).sum() <= 200 * np.exp(-3)
    violated = found.risk > (found.c**3 * found.top_unit + found.c * found.bottom_unit) * (1 + 1e-12)
    assert violated.isel(instance=found.half == 0).sum() == 0
    assert violated.isel(instance=found.half == 1).sum() <= (tested.needed > found.c).sum()
    assert found.c < 1 < found.c_estimation  # the proof's constant is larger than the bound's own
    flat = found.isel(instance=found.spectrum == "flat")  # Σ = I, which falls nowhere: m = d, of the first term alone
    np.testing.assert_allclose(flat.g, np.maximum(flat.dimension, 3) / flat.n, rtol=1e-12)  # n < d
    np.testing.assert_allclose(flat.at_fall, 2 * flat.g**3, rtol=1e-12)
    assert (found.at_fall >= (found.top_unit + found.bottom_unit) * (1 - 1e-12)).all()


def test_terms_of_the_covariance_bound_fall_like_the_powers_of_the_paper_beyond_the_effective_rank():
    found, rank = curve("covariance_bound", instances=2), (50 * 1.5 + 950 * 0.3) / 1.5
    many, few = found.samples.values[:-1] > rank, found.samples.values[1:] < rank
    for name, late, early in (("top_term", -1.5, -3), ("bottom_term", -0.5, -1)):
        slope = np.diff(np.log(found[name])) / np.diff(np.log(found.samples))
        np.testing.assert_allclose(slope[many], late, rtol=1e-9)
        np.testing.assert_allclose(slope[few], early, rtol=1e-9)
    assert [many.sum(), few.sum()] == [4, 4]


def test_large_weights_have_the_risk_of_the_minimum_norm():
    n = np.array([20, 100, 250])
    found = interpolation_risk(n, [5, 295], [0.4, 0.0], 1e3, 1e3)
    np.testing.assert_allclose(found, 5 * 0.16 * (1 - n / 300), rtol=1e-3)


def networks(overlap, n, protocol):
    """log₁₀ of the risks of diagonal networks of the default size, solved on drawn data, after ideal pretraining."""
    D, k, small = 200, 8, 1e-3
    shared = int(overlap * k)
    target, first = np.zeros(D), np.full(D, small)
    target[:k] = k**-0.5
    if protocol != "single_task":
        first[k - shared : 2 * k - shared] = np.sqrt(k**-0.5)  # the path that has learned
    X = np.random.default_rng(7).standard_normal((12, n, D))
    other = np.full(D, small)
    if protocol == "finetuning_probe":
        squares = first**2 + np.where(first == small, small**2, 0.0)
        found = squares * np.stack([x.T @ np.linalg.solve(x * squares @ x.T, x @ target) for x in X])
    else:
        found = diagonal_flow_limit(X, X @ target, first, other, other, other)
    return np.log10(((found - target) ** 2).sum(-1))


@pytest.mark.parametrize("overlap", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("protocol", "samples"),
    [("single_task", 32), ("finetuning", 16), ("finetuning", 32), ("finetuning_probe", 32)],
)
def test_diagonal_networks_have_these_risks(overlap, protocol, samples):
    found = networks(overlap, samples, protocol)
    at = curve("diagonal_risk", overlap=(overlap,), samples=(samples,))[protocol].item()
    if found.mean() < -10:  # both are at rounding: a readout on exactly the target's features
        assert at < 1e-7
    else:
        assert abs(found.mean() - np.log10(at)) < max(found.std(), 0.05)


def test_one_layer_has_the_mean_risk_of_equation_10_and_strays_from_it_as_a_beta_variable_does():
    """|P⊥Δ|²/|Δ|² is Beta((d − n)/2, n/2): P⊥ projects onto a uniformly random subspace."""
    found = curve("gaussian_bounds", dimension=(20, 40), draws=400)
    for norm, angle, gamma, d in (
        (norm, angle, gamma, d)
        for norm in found.source_norm.values
        for angle in found.angle.values
        for gamma in found.gamma.values
        for d in found.dimension.values
    ):
        cell = {"source_norm": norm, "angle": angle, "gamma": gamma}
        square = 1 + norm**2 - 2 * norm * np.cos(np.pi * angle)
        risk, bounds = found.risk.sel(dimension=d, depth=1, **cell).values, found.one_layer.sel(**cell)
        mean = float(bounds.sel(epsilon=0.0))
        assert mean == pytest.approx((1 - gamma) * square)
        assert abs(risk.mean() - mean) < 5 * risk.std() / 20
        share = beta((1 - gamma) * d / 2, gamma * d / 2)
        for epsilon in (0.1, 0.4):
            limit = float(bounds.sel(epsilon=epsilon))
            often = binom(400, share.sf(limit / square))
            assert often.ppf(1e-6) <= (risk > limit).sum() <= often.ppf(1 - 1e-6)


def test_the_exponent_of_the_diagonal_network_is_the_slope_of_its_penalty():
    found = curve("relu_penalty", points=3001)
    slope = found.diagonal_penalty.differentiate("magnitude") * found.magnitude / found.diagonal_penalty
    np.testing.assert_allclose(found.diagonal_exponent[:, 1:-1], slope[:, 1:-1], rtol=1e-4)


def test_over_norms_the_distance_of_tasks_predicts_no_transfer():
    """A target twice the source is as far as one turned by π/3, and transfers better."""
    distances = partial(curve, "transfer_distances", samples=2, repeats=1)
    found = distances(angle=(0.0, 1 / 3), target_norm=(1.0, 2.0))
    longer, turned = found.sel(target_norm=2.0, angle=0.0), found.sel(target_norm=1.0).isel(angle=1)
    assert longer.kl == pytest.approx(turned.kl.item(), rel=1e-12)
    assert longer.linear > 0 > turned.linear
    assert longer.finetuning > turned.finetuning + 1
    opposite = distances().sel(angle=1.0)
    assert (opposite.kl.diff("target_norm") > 0).all()
    assert (opposite.linear.diff("target_norm") > 0).all()


def test_transfer_is_negative_in_its_regions_alone_and_finetuning_from_a_third_of_pi_on():
    found = curve("transferability")
    inside = (found.gamma > found.interval_low) & (found.gamma < found.interval_high)
    away = abs(found.linear) > 1e-9
    assert ((found.linear < 0) == (inside | (found.gamma > found.threshold))).where(away, True).all()
    assert inside.sel(noise=0.2).any()
    below = found.finetuning.sel(gamma=slice(None, 1))
    assert (below.sel(angle=slice(None, 0.33)) > 0).all()
    assert (below.sel(angle=slice(0.34, None)) < 0).all()
    assert (found.finetuning.sel(gamma=slice(1, None)) == 0).all()
