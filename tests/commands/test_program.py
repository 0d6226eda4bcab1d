"""The console command: what it offers, that it runs the scripts' own code, and a user's mistakes."""

import os
import subprocess
import sys

import numpy as np
import pytest

from carryover import __main__ as program
from carryover.provenance.job_record import SCRIPTS


def said(words, monkeypatch, capsys):
    """(exit code or last sentence, what was printed, errors) of the console command."""
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/carryover", *words])
    code = 0
    try:
        program.main()
    except SystemExit as end:
        code = end.code
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "carryover: error: the following arguments are required: COMMAND"),
        (["diagnoses"], 2, "argument COMMAND: invalid choice: 'diagnoses' (choose from "),
        (["trace", "no.png"], "carryover: no.png is missing: run the step that makes it.", ""),
        (["diagnose", "--pretrained", "a.npz"], 2, "the following arguments are required: --finetuned, -o/--output"),
        (["rescale", "no.py"], "carryover: no.py is no file: name a Python file that defines make, state, ", ""),
        (["rescale", "no.py", "--seeds", "1"], "carryover: --seeds", ""),
        (["audit"], "carryover: config/config.yaml: No such file or directory.", ""),
    ],
)
def test_a_mistake_is_one_sentence(words, code, sentence, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    got, out, errors = said(words, monkeypatch, capsys)
    assert got == code if isinstance(code, int) else got.startswith(code)
    assert sentence in errors
    assert (out, "\n" in str(got)) == ("", False)


class Bomb:
    """Unpickling it makes a folder."""

    def __reduce__(self):
        return os.mkdir, ("PWNED",)


def test_promise_nothing_is_unpickled(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    np.savez("before.npz", layer=np.array([Bomb()], dtype=object))
    words = ["diagnose", "--pretrained", "before.npz", "--finetuned", "before.npz", "--output", "diagnosis"]
    code, *_ = said(words, monkeypatch, capsys)
    assert code.startswith("carryover: before.npz cannot be read")
    assert "\n" not in code
    assert not list(tmp_path.glob("PWNED"))
    assert not list(tmp_path.glob("diagnosis/*"))


def test_a_package_that_is_not_installed_is_named():
    code = "import sys; sys.modules['yaml'] = None; sys.argv = ['carryover', 'audit']; "
    code += "from carryover import __main__ as program; program.main()"
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    said = (
        "carryover: carryover audit needs the package yaml, which is not installed: "
        'in Carryover\'s folder, `pip install ".[workflow]"` brings it.\n'
    )
    assert (done.returncode, done.stderr) == (1, said)
