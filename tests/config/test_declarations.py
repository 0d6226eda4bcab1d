"""Parameters that can be no flag or no key are refused when the schema is written, with the file and the parameter."""

import importlib
import re
from dataclasses import field, make_dataclass
from types import ModuleType

import pytest

from carryover.config import declarations, plugins
from carryover.config.parameters import parameter
from carryover.errors import UserError

SCRIPTS = {"families": "pretrain", "measures": "measure", "curves": "curve", "comparisons": "compare",
           "claims": "check_claims", "plotting": "figure", "tables": "table"}  # fmt: skip
TYPES = "it must be one of int, float, str, bool, or tuple[…, ...] of one."


def module(folder="measures", **names):
    made = ModuleType(f"carryover.{folder}.mine")
    vars(made).update(names)
    return made


def refusal(one, name="Parameters"):
    with pytest.raises(UserError) as refused:
        declarations.declared(one, name)
    return str(refused.value)


FIELDS = {
    "no parameter()": ("rate", float, field(default=0.1),
                       "rate must be declared as `rate: … = parameter(default, meaning)`."),
    "two types": ("rate", float | None, parameter(None, "step"), f"rate is of the type float | None: {TYPES}"),
    "a default below its limit": ("rate", float, parameter(0.0, "step", above=0),
                                  "the default of --rate 0.0: it must be a number > 0."),
    "an option of the script": ("output", str, parameter("", "where"), "output has a name that the script itself has "
                                "taken, as finetuned, output, wildcards, help are."),
}  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "value", "said"), FIELDS.values(), ids=list(FIELDS))
def test_a_field_that_can_be_no_flag_is_named(name, kind, value, said):
    cls = make_dataclass("Parameters", [(name, kind, value)], kw_only=True, frozen=True)
    assert refusal(module(Parameters=cls)) in (f"measures/mine.py: {said}", f"measures/mine.py {said}")


def told(capsys, main, words):
    """The flags that a program's help names, without their dashes."""
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    return set(re.findall(r"--([a-z][a-z0-9-]*)", capsys.readouterr().out.partition("\n\n")[2])) | {"help"}


def flags(cls):
    return {name.replace("_", "-") for name in cls.__dataclass_fields__}


@pytest.mark.parametrize("folder", SCRIPTS)
def test_the_names_that_are_taken_are_the_scripts_options(folder, capsys):
    plugin, stage = plugins.names(folder)[0], ".pretrain" if folder == "families" else ""
    options = told(capsys, importlib.import_module(SCRIPTS[folder]).main, [plugin])
    own = flags(importlib.import_module(f"carryover.{folder}.{plugin}{stage}").Parameters)
    assert options - own == {*declarations.TAKEN[folder], *declarations.EVERYWHERE} - {"grids"}
