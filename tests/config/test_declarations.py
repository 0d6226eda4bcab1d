"""Parameters that can be no flag or no key are refused when the schema is written, with the file and the parameter."""

import importlib
import re
from dataclasses import MISSING, field, make_dataclass
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
    "no default": ("rate", float, field(default=MISSING),
                   "rate must be declared as `rate: … = parameter(default, meaning)`."),
    "two types": ("rate", float | None, parameter(None, "step"), f"rate is of the type float | None: {TYPES}"),
    "no such type": ("rate", dict, parameter(1, "step"), f"rate is of the type dict: {TYPES}"),
    "a name that is no type": ("rate", "Rate", parameter(1, "step"), "rate: its type cannot be found (name 'Rate' is "
                               "not defined)."),
    "a default of another type": ("rate", int, parameter(0.5, "step"), "rate: the default 0.5 is not of the type int."),
    "a truth for a number": ("rate", float, parameter(True, "step"), "rate: the default True is not of the type "
                             "float."),
    "one default for several": ("rates", tuple[int, ...], parameter(1, "steps"),
                                "rates: the default 1 is not a tuple of int."),
    "a default below its limit": ("rate", float, parameter(0.0, "step", above=0),
                                  "the default of --rate 0.0: it must be a number > 0."),
    "a default that is no choice": ("kind", str, parameter("c", "kind", choices=("a", "b"), axis=True),
                                    "the default of --kind c: it must be one of a, b."),
    "a default that is endless": ("rate", float, parameter(float("inf"), "step"),
                                  "the default of --rate inf: it is not a finite number."),
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
