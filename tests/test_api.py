"""The public names stay where notebooks look for them, and `docs/library.md` lists them all."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import carryover
from carryover import api

PAGE = Path(__file__).resolve().parents[1] / "docs/library.md"
# Names and arguments that do not change within a major version.
PUBLIC = {
    "theory.penalty": ["relu_penalty(m, m0, rho, gamma)", "relu_penalty_exponent(m, m0, rho, gamma)"],
    "theory.norms": [
        "q_norm(beta, w1, w2)",
        "flow_penalty(beta, w1_plus, w2_plus, w1_minus, w2_minus)",
        "l12_norm(beta)",
        "l1_norm(beta)",
    ],
    "theory.transfer": [
        "scratch_risk(gamma, sigma)",
        "linear_transfer_risk(theta, sigma, n)",
        "ridge_transfer_risk(theta, ridge, n, sigma)",
        "finetune_risk(gamma, theta, sigma, depth)",
        "finetune_transferability(gamma, theta, sigma, depth)",
        "linear_transferability(gamma, theta, sigma)",
        "negative_transfer_interval(theta, sigma)",
    ],
    "theory.linear_teachers": [
        "linear_limit(theta_s, theta_t, X)",
        "deep_linear_limit(theta_s, theta_t, X, depth)",
        "population_risk(beta, theta_t, cov)",
        "covariance_bound(difference, cov, n, m, confidence, c)",
        "benign_overfitting_bound(difference, cov, n)",
    ],
    "theory.kernels": ["relu_kernel(W, V)", "rkhs_residual(c_star, W_star, W)", "ntk_bound(X, residual)"],
    "training.exact": ["diagonal_flow_limit(X, y, w1_plus, w2_plus, w1_minus, w2_minus)"],
    "measures.dimensionality": ["participation_ratio(X)", "ensd(X, Y)", "cka(X, Y)"],
    "measures.clusters": ["inertia(W, weights, k, seed)", "alignment(centers, teacher)"],
    "diagnosis.comparison": ["compare(before, after, loader, layers, *, reduce, batch_axis, channel_axis, baseline)"],
    "diagnosis.diagnosis": ["diagnose(before, after, *, layers, p)"],
    "diagnosis.forecast": ["forecast(model, loader, arms, *, labels, layer, baseline, factor, samples, seed)"],
    "diagnosis.layers": ["layer_similarity(before, after, layers, *, debiased, confidence)"],
    "diagnosis.recording": ["record(module, names, path)"],
    "diagnosis.rescaling": [
        "choose_factor(make, state, finetune, score, which)",
        "search_factor(run, factors, seeds, fresh_seeds, which)",
    ],
}
NAMES = [(module, signature) for module, signatures in PUBLIC.items() for signature in signatures]


@pytest.mark.parametrize(("module", "signature"), NAMES, ids=[signature.partition("(")[0] for _, signature in NAMES])
def test_a_public_name_is_where_it_was_and_takes_what_it_took(module, signature):
    name, arguments = re.fullmatch(r"(\w+)\((.*)\)", signature).groups()
    function = getattr(importlib.import_module(f"carryover.{module}"), name)
    assert getattr(carryover, name) is function
    code = function.__wrapped__.__code__ if hasattr(function, "__wrapped__") else function.__code__
    wanted = [argument for argument in arguments.split(", ") if argument != "*"]
    assert list(code.co_varnames[: len(wanted)]) == wanted


def test_the_package_itself_has_the_names_and_loads_them_when_asked():
    code = """
import sys
import carryover
from carryover import errors  # a module of the package loads none of the names
assert "carryover.api" not in sys.modules and "torch" not in sys.modules
from carryover import api, choose_factor, compare, diagnose, record
assert set(api.MODULE_OF) | {"errors"} <= set(dir(carryover))
try:
    from carryover import forget
except ImportError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": str(PAGE.parents[1] / "scripts")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cannot import name 'forget' from 'carryover'")


def test_there_are_no_others():
    assert sorted(api.MODULE_OF) == sorted(signature.partition("(")[0] for _, signature in NAMES)
