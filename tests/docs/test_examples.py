"""The examples in docstrings of public functions give what they show."""

import doctest
import importlib

import pytest

MODULES = ("theory.penalty", "theory.norms", "theory.transfer", "theory.linear_teachers", "theory.kernels",
           "training.exact", "measures.dimensionality", "measures.clusters", "diagnosis.layers")  # fmt: skip


@pytest.mark.parametrize("module", MODULES)
def test_examples_give_what_they_show(module):
    found = doctest.testmod(importlib.import_module(f"carryover.{module}"))
    assert found.attempted
    assert not found.failed
