"""What the command lines have in common: plug-ins by name, wildcards, and mistakes as one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from carryover.workflow import command_line

SCRIPTS = Path(command_line.__file__).parents[2]


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
