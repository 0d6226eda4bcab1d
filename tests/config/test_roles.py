"""Roles of data that no plug-in reads, or that one needs and does not get, are refused before any job."""

import inspect
import re

import pytest

from carryover.config import configuration, declarations, plugins, validation
from carryover.config.artifacts import MADE_OF_DATA
from carryover.config.validation import ConfigurationError

MAKERS = [(folder, name) for folder in sorted({kind.plugins for kind in MADE_OF_DATA.values()} - {None})
          for name in plugins.names(folder)]  # fmt: skip


@pytest.fixture(scope="module")
def schema():
    return configuration.schema()


def entries(section, name, data, **more):
    return {section: {name: {"data": dict.fromkeys(data, "toy/risk"), **more}}}


@pytest.mark.parametrize(("config", "sentence"), [
    (entries("claims", "relu_richness", ["risk", "norm"]), "claims.relu_richness.data: unknown key norm; allowed here: "
     "risk, norms."),
    (entries("claims", "relu_richness", ["rsk"]), "claims.relu_richness.data: unknown key rsk; allowed here: risk, "
     "norms."),
    (entries("claims", "relu_richness", ["norms"]), "claims.relu_richness.data: risk is missing."),
    (entries("figures", "mine", ["regimes", "ovrlap"], plot="clusters"), "figures.mine.data: unknown key ovrlap; "
     "allowed here: regimes, overlap, nested."),
    (entries("tables", "mine", ["bounds"], rows="bound_correlations"), "tables.mine.data: published is missing."),
    (entries("comparisons", "atlas", ["risk", "theroy"]), "comparisons.atlas.data: unknown key theroy; allowed here: "
     "risk, beforehand, features, theory."),
])  # fmt: skip
def test_a_role_that_is_not_read_and_one_that_is_wanting_are_named(schema, config, sentence):
    with pytest.raises(ConfigurationError) as refused:
        validation.validate(config, schema)
    assert str(refused.value) == f"configuration: {sentence}"


@pytest.mark.parametrize("config", [
    entries("claims", "relu_richness", ["risk"]),
    entries("claims", "mine", ["norms", "risk"], check="relu_richness"),
    entries("figures", "clusters", ["nested"]),
    entries("figures", "mine", ["any", "other"], plot="atlas"),  # which names its maps by their roles
])  # fmt: skip
def test_roles_that_may_be_left_out_may_and_some_plugins_take_any(schema, config):
    validation.validate(config, schema)


@pytest.mark.parametrize(("folder", "name"), MAKERS)
def test_what_a_plugin_reads_it_names(folder, name):
    """Where its function says `data["risk"]`, ROLES or OPTIONAL_ROLES do."""
    module = plugins.load(f"carryover.{folder}.{name}")
    (makes,) = (vars(module)[one] for one in ("check", "draw", "rows", "compare") if one in vars(module))
    read = set(re.findall(r'\bdata\["(\w+)"\]', inspect.getsource(inspect.unwrap(makes))))
    named = declarations.roles(module)
    assert read <= {*named[0], *named[1]} if named else not read
