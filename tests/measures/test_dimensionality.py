"""Dimensionality against eigenvalues, other libraries and worked examples; the big case in bounded time and memory."""

import numpy as np
import pytest
from sklearn.preprocessing import KernelCenterer

from carryover.config.plugins import model_of
from carryover.measures import dimensionality
from carryover.measures.dimensionality import cka, ensd, participation_ratio
from carryover.streams import generator
from carryover.tasks.sparse import sphere
from toy import made_up_networks
from toy.refusal import refused

BRANCHES = [(40, 7, 5), (9, 30, 21), (12, 30, 4), (12, 4, 30)]  # fewer units than samples, more, and both


def drawn(samples, units, seed=0):
    """Responses with a mean and unequal, correlated units."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((samples, units)) @ rng.standard_normal((units, units)) + rng.standard_normal(units)


@pytest.mark.parametrize(("samples", "units", "others"), BRANCHES)
def test_shared_dimensions_are_those_of_centred_kernels(samples, units, others):
    X = drawn(samples, units)
    Y = X @ drawn(units, others, 1) + drawn(samples, others, 2)
    K, L = (KernelCenterer().fit_transform(Z @ Z.T) for Z in (X, Y))
    kk, kl, ll = ((a * b).sum() for a, b in ((K, K), (K, L), (L, L)))
    assert ensd(X, Y) == pytest.approx(kl * np.trace(K) * np.trace(L) / (kk * ll), rel=1e-10)
    assert cka(X, Y) == pytest.approx(kl / np.sqrt(kk * ll), rel=1e-10)
    assert participation_ratio(Y) == pytest.approx(np.trace(L) ** 2 / ll, rel=1e-10)


def test_single_precision_with_a_large_mean_stays_accurate():
    rng = np.random.default_rng(0)
    for units in (20, 400):
        X = (1e4 + rng.standard_normal((300, units)) * np.linspace(0.1, 2, units)).astype(np.float32)
        C = np.cov(X.astype(float).T)
        assert participation_ratio(X) == pytest.approx(np.trace(C) ** 2 / (C**2).sum(), rel=1e-10)


GOOD = np.eye(4)
BAD = {
    "must be numbers of shape (samples, units) with two samples or more, got float64 of shape (4,)": GOOD[0],
    "must be finite, and sample 0 is not": np.where(GOOD == 1, np.inf, 0),
    "must vary between samples": np.ones((4, 3)),
}


@pytest.mark.parametrize(("message", "bad"), BAD.items())
def test_what_has_no_dimensionality_is_refused_by_name(message, bad):
    for compare in (ensd, cka):
        with pytest.raises(ValueError) as first:  # noqa: PT011
            compare(bad, GOOD)
        with pytest.raises(ValueError) as second:  # noqa: PT011
            compare(GOOD, bad)
        assert (str(first.value), str(second.value)) == (f"X {message}", f"Y {message}")
    with pytest.raises(ValueError) as alone:  # noqa: PT011
        participation_ratio(bad)
    assert str(alone.value) == f"X {message}"


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_varies_by_rounding_alone_is_constant(kind):
    noise = np.random.default_rng(0).integers(-2, 3, (50, 3)) * np.finfo(kind).eps
    with pytest.raises(ValueError, match="X must vary between samples"):
        participation_ratio((1 + noise).astype(kind))
    assert participation_ratio((1 + 1e3 * noise).astype(kind)) > 1


def networks(width=8):
    """Three runs in five inputs."""
    rng, shapes = np.random.default_rng(0), {"first": (3, width, 5), "second": (3, 1, width)}
    variables = {
        prefix + name: rng.standard_normal(shape).astype(np.float32)
        for prefix in ("start_", "")
        for name, shape in shapes.items()
    }
    return made_up_networks.networks(variables, protocol=["finetuning", "single_task", "finetuning_kernel"])


PARAMETERS = model_of("measures", "dimensionality")(samples=300)


@pytest.mark.parametrize("width", [8, 400])
def test_networks_are_compared_by_their_responses_to_the_same_inputs(width):
    data = networks(width=width)
    data["first"][2], data["second"][2] = data["start_first"][2], data["start_second"][2]  # kernel: not trained
    measured = dimensionality.dimensionality(data, PARAMETERS)
    inputs = sphere(generator("dimensionality", "", 0, "inputs"), 300, 5)
    for run in range(3):
        end, start = (np.clip(inputs @ data[name].values[run].T, 0, None) for name in ("first", "start_first"))
        expected = participation_ratio(end), participation_ratio(start), ensd(start, end), cka(start, end)
        for name, value in zip(
            ("participation_ratio", "participation_ratio_start", "ensd", "cka"), expected, strict=True
        ):
            assert float(measured[name][run]) == pytest.approx(value, rel=1e-12), name
    assert float(measured["cka"][2]) == pytest.approx(1, rel=1e-12)
    assert float(measured["cka"][0]) < 0.999


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("first", 0.0, "the hidden responses at the end of training must vary between samples"),
        ("start_first", np.nan, "the hidden responses at the start of training must be finite, and sample 0 is not"),
        ("first", np.inf, "the hidden responses at the end of training must be finite, and sample 0 is not"),
    ],
)
def test_a_run_without_dimensionality_is_named(name, value, message):
    data = networks()
    data[name][1] = value
    said = refused(dimensionality.dimensionality, data, PARAMETERS)
    assert said == f"{message}, in the run with seed=1, protocol=single_task"
