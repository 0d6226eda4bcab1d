"""Rules have every section and no logic, and name environments that have what their jobs import."""

import ast
import re
import sys

import pytest
import yaml

from carryover.config import plugins
from carryover.config.artifacts import PLUGINS, STAGES
from carryover.provenance import code_digest
from toy.small_project import ROOT

SCRIPTS = ROOT / "scripts"
FAMILIES = SCRIPTS / "carryover/families"
SECTIONS = ("input", "output", "log", "conda", "threads", "resources", "params", "shell")
# Rules that need nothing made before.
ROOTS = ("pretrain", "curve")
# What is called otherwise by conda than by Python, and what is needed without an import of ours: xarray writes with
# netCDF4, and the digits are a file of scikit-learn's.
CONDA = {"PIL": "pillow", "torch": "pytorch", "sklearn": "scikit-learn", "netCDF4": "netcdf4", "yaml": "pyyaml",
         "vl_convert": "vl-convert-python"}  # fmt: skip
UNSEEN = {"python", "netcdf4", "scikit-learn"}


def rules():
    """{rule: {section: its text}} of all rules but `all`."""
    text = "\n".join(path.read_text() for path in sorted(ROOT.glob("rules/*.smk")))
    found = {}
    for name, body in re.findall(r"^rule (\w+):\n((?:(?: .*)?\n)+)", text + "\n", re.MULTILINE):
        parts = re.split(r"^    (\w+):", body, flags=re.MULTILINE)
        found[name] = {key: value.strip() for key, value in zip(parts[1::2], parts[2::2], strict=True)}
    return found


RULES = rules()
# An audit makes nothing: without input, output and code it always runs, and repairs nothing.
MAKERS = [rule for rule in RULES if rule != "audit"]


def declared(kind):
    return [plugins.find(kind, name) for name in plugins.names(kind)]


def imports(rule):
    """Top-level packages that the script and any plug-in of a rule import, our own and the standard library's aside."""
    names = [rule]
    if rule == "collect":
        names += [measure.module for measure in declared("measures") if measure.selects]
    if rule in PLUGINS:
        names += [plugin.module for plugin in declared(PLUGINS[rule])]
    if rule in STAGES:
        names += [".".join(file.relative_to(SCRIPTS).with_suffix("").parts) for file in FAMILIES.glob("*/*.py")]
    names = [name.removesuffix(".__init__") for name in names]
    found = set()
    for file in code_digest.closure_files(SCRIPTS, *names):
        for node in ast.walk(ast.parse((SCRIPTS / file).read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"carryover"}


def environment(file):
    listed = yaml.safe_load((ROOT / "envs" / file).read_text())["dependencies"]
    return {re.split(r"[=<>! ]", entry)[0] for entry in listed}


def test_every_script_that_makes_something_has_its_rule():
    without = {"archive", "schema"}
    assert {path.stem for path in SCRIPTS.glob("*.py")} - without == set(RULES)
    assert {path.stem for path in ROOT.glob("rules/*.smk")} - {"common"} == set(RULES)


@pytest.mark.parametrize("rule", MAKERS)
def test_a_rule_has_every_section(rule):
    assert [key for key in SECTIONS if key not in RULES[rule]] == (["input"] if rule in ROOTS else [])


def test_rules_hold_no_logic():
    for path in (ROOT / "Snakefile", *ROOT.glob("rules/*.smk")):
        words = re.sub(r'"[^"\n]*"|#.*', "", path.read_text())
        assert not re.search(r"\b(lambda|if|for|while|def|class|run|checkpoint|eval|exec)\b", words), path.name


@pytest.mark.parametrize("rule", RULES)
def test_an_environment_has_what_its_jobs_import(rule):
    file = RULES[rule]["conda"].strip('"').rpartition("/")[2]
    needed = {CONDA.get(name, name) for name in imports(rule)}
    assert needed - environment(file) == set()


def test_environments_have_nothing_that_no_job_imports():
    for path in ROOT.glob("envs/*.yaml"):
        users = [rule for rule in RULES if RULES[rule]["conda"].endswith(f'/{path.name}"')]
        needed = {CONDA.get(name, name) for rule in users for name in imports(rule)}
        assert environment(path.name) - UNSEEN - needed == set(), path.name
