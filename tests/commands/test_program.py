"""The console command: what it offers, that it runs the scripts' own code, and a user's mistakes."""

import os
import subprocess
import sys

import pytest

from carryover.commands import audit, check, diagnose, program, rescale, trace
from carryover.provenance.job_record import SCRIPTS

COMMANDS = {
    "diagnose": diagnose,
    "rescale": rescale,
    "check": check,
    "audit": audit,
    "trace": trace,
}


def said(words, monkeypatch, capsys):
    """(exit code or last sentence, what was printed, errors) of the console command."""
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/carryover", *words])
    code = 0
    try:
        program.main()
    except SystemExit as end:
        code = end.code
    return code, *capsys.readouterr()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_help_of_its_own(name, monkeypatch, capsys):
    code, out, _ = said([name, "--help"], monkeypatch, capsys)
    assert code == 0
    assert out.startswith(f"usage: carryover {name} ")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "carryover: error: the following arguments are required: COMMAND"),
        (["diagnoses"], 2, "argument COMMAND: invalid choice: 'diagnoses' (choose from "),
        (["trace", "no.png"], "carryover: no.png is missing: run the step that makes it.", ""),
        (["diagnose", "--pretrained", "a.npz"], 2, "the following arguments are required: --finetuned, -o/--output"),
        (["rescale", "no.py"], "carryover: no.py is no file: name a Python file that defines make, state, ", ""),
        (["rescale", "no.py", "--seeds", "1"], "carryover: --seeds", ""),
        (["audit"], "carryover: there is no project in ", ""),
    ],
)
def test_a_mistake_is_one_sentence(words, code, sentence, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    got, out, errors = said(words, monkeypatch, capsys)
    assert got == code if isinstance(code, int) else got.startswith(code)
    assert sentence in errors
    assert (out, "\n" in str(got)) == ("", False)


def test_a_package_that_is_not_installed_is_named():
    code = "import sys; sys.modules['yaml'] = None; sys.argv = ['carryover', 'audit']; "
    code += "from carryover.commands import program; program.main()"
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    said = (
        "carryover: carryover audit needs the package yaml, which is not installed: "
        'in Carryover\'s folder, `pip install ".[workflow]"` brings it.\n'
    )
    assert (done.returncode, done.stderr) == (1, said)
