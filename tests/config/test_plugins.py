"""What plug-ins declare, and the sentence about a wrong declaration, which names file and line."""

import pytest

from carryover.config import plugins
from carryover.errors import UserError

RIGHT = """
import a_library_that_is_not_installed as missing

from pydantic import PositiveFloat

from carryover.config import plugins
from carryover.config.parameters import Model, parameter

ABOVE = 0.01
LARGE = missing.compute(ABOVE)


class Nonzero(Model):
    above: PositiveFloat = parameter(ABOVE, "size from which on a coefficient counts")


@plugins.measure(needs=["coefficients"])
def nonzero(data, p: Nonzero):
    return missing.count(data["coefficients"], p.above, LARGE)
"""
WRONG = {
    "version": (("needs=[", "version=1, needs=["), r"line 17: version=1 must be text\."),
    "arguments": (("(data, p:", "(dataset, p:"), r"line 18: nonzero must have the arguments \(data, p\), without p if"),
    "model": (("p: Nonzero", "p"), r"line 18: p of nonzero must be annotated with the model of its options\."),
    "no model": (("p: Nonzero", "p: float"), r"line 18: p of nonzero must be annotated with the model of its "),
    "no list": (('=["coefficients"]', '="coefficients"'), r"line 17: 'coefficients' must be a list of names\."),
    "unknown": (("needs=", "need="), r"line 17: measure\(\) got an unexpected keyword argument 'need'\."),
    "no call": (('measure(needs=["coefficients"])', "measure"), r"line 17: measure\(\) takes 0 positional arguments"),
    "name": (("PositiveFloat =", "PositveFloat ="), r"line 14: name 'PositveFloat' is not defined\."),
    "syntax": (("class Nonzero(Model):", "class Nonzero(Model)"), r"line 13: expected ':'\."),
}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """An empty library, in whose folder `measures` plug-ins are found."""
    (tmp_path / "measures").mkdir()
    monkeypatch.setattr(plugins, "LIBRARY", tmp_path)
    plugins.forget()
    yield tmp_path
    plugins.forget()


def test_a_declaration_is_read_without_what_the_plug_in_imports(library):
    (library / "measures/own.py").write_text(RIGHT)
    assert plugins.names("measures") == ["nonzero"]
    nonzero = plugins.find("measures", "nonzero")
    assert (nonzero.module, nonzero.any_of) == ("carryover.measures.own", [("coefficients",)])
    assert nonzero.model().above == 0.01


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_declaration_is_one_sentence_with_file_and_line(library, wrong):
    replaced, sentence = WRONG[wrong]
    (library / "measures/own.py").write_text(RIGHT.replace(*replaced))
    with pytest.raises(UserError, match=rf"^[\w/-]*measures/own\.py, {sentence}"):
        plugins.find("measures", plugins.names("measures")[0])


def test_two_plug_ins_of_one_name_are_one_sentence(library):
    for name in ("one", "two"):
        (library / f"measures/{name}.py").write_text(RIGHT)
    with pytest.raises(UserError, match=r"two plug-ins are called nonzero: .*measures/one\.py, line 18, and .*two\.py"):
        plugins.names("measures")
