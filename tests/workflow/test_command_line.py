"""What the command lines have in common: plug-ins by name, wildcards, and mistakes as one sentence."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from carryover.config import plugins
from carryover.errors import UserError
from carryover.workflow import command_line

SCRIPTS = Path(command_line.__file__).parents[2]


def test_plugins_are_modules_and_folders_without_an_underscore():
    assert {"coefficients", "norms", "risk", "sparsity", "trajectory"} <= set(plugins.names("measures"))
    assert "diagonal" in plugins.names("families")
    assert "risk_curves" in plugins.names("plotting")
    assert "_streamed" not in plugins.names("measures")
    assert plugins.names("measures") == sorted(plugins.names("measures"))


def test_the_first_word_chooses_and_the_rest_is_left_alone():
    assert command_line.chosen(["risk", "--finetuned", "x", "--help"], "measures", "measure", "Measure.") == "risk"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "measure.py: error: the following arguments are required: plugin"),
        (["risks"], "measure.py: error: argument plugin: invalid choice: 'risks'"),
        (["--finetuned", "x"], "measure.py: error: the following arguments are required: plugin"),
    ],
)
def test_without_a_plugin_the_choices_are_named(argv, said, capsys):
    with pytest.raises(SystemExit) as ended:
        command_line.chosen(argv, "measures", "measure", "Measure.")
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert "sparsity" in printed


def test_help_before_a_plugin_lists_them(capsys):
    with pytest.raises(SystemExit) as ended:
        command_line.chosen(["--help"], "measures", "measure", "Measure it.")
    assert ended.value.code == 0
    assert "Measure it." in (printed := capsys.readouterr().out)
    assert "clusters,coefficients" in printed


def test_every_job_has_output_and_wildcards():
    parser = command_line.parser("toy.py", "Toy.")
    arguments = parser.parse_args(["--output", "a.png", "b.svg", "--wildcards", "point=x=1", "block=0"])
    assert arguments.output == ["a.png", "b.svg"]
    assert command_line.wildcards(arguments) == {"point": "x=1", "block": "0"}
    assert command_line.wildcards(parser.parse_args(["--output", "a"])) == {}


def test_a_wildcard_without_a_value_is_named():
    with pytest.raises(UserError, match=r"^--wildcards point: it must be KEY=VALUE\.$"):
        command_line.wildcards(argparse.Namespace(wildcards=["block=0", "point"]))


@pytest.mark.parametrize("message", ["a.nc is missing: run the step that makes it", "--samples 0: it must be ≥ 1."])
def test_a_users_mistake_ends_with_one_sentence(message, monkeypatch):
    def main(argv):
        assert argv == ["--flag"]
        raise UserError(message)

    monkeypatch.setattr(sys, "argv", ["/somewhere/measure.py", "--flag"])
    with pytest.raises(SystemExit) as ended:
        command_line.run(main)
    assert ended.value.code == f"measure: {message.rstrip('.')}."


def test_our_own_mistakes_keep_their_trace():
    def main(argv):
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        command_line.run(main)


SCRIPT = """
import sys
from carryover.workflow import command_line
from carryover.errors import UserError
def main(argv):
    print("\\udcff")
    if argv[0] == "much":
        for number in range(100_000):
            print(number)
    if argv[0] == "mistake":
        raise UserError("a mistake")
    sys.exit(int(argv[0] == "verdict"))
command_line.run(main)
"""


@pytest.mark.parametrize("mode", ["much", "mistake", "verdict", "fine"])
def test_a_reader_that_goes_away_leaves_no_stack_trace(mode, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), mode]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(SCRIPTS)}, **pipes) as process:
        if mode == "much":
            assert process.stdout.readline() == "\\udcff\n"
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (1, "")


def test_what_is_no_utf_8_is_printed_with_escapes_and_a_mistake_is_one_sentence(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    told = {"env": {**os.environ, "PYTHONPATH": str(SCRIPTS)}, "capture_output": True, "text": True}
    for mode, code, said in (("fine", 0, ""), ("verdict", 1, ""), ("mistake", 1, "script: a mistake.\n")):
        done = subprocess.run([sys.executable, str(tmp_path / "script.py"), mode], **told)
        assert (done.returncode, done.stdout, done.stderr) == (code, "\\udcff\n", said)
