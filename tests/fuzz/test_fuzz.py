"""Whatever a configuration or a command line says, it ends with a sentence or a result: no stack trace, nothing that
hangs, and no file that is half there.

200 cases, always the same ones; `CARRYOVER_FUZZ=1000 pytest tests/fuzz` tries so many others of each kind.
"""

import os
import shutil

import cases
import command_lines
import configurations
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from toy.small_project import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fuzz")]

OTHERS = int(os.environ.get("CARRYOVER_FUZZ", "0"))
FUZZ = settings(
    max_examples=OTHERS or 100, derandomize=not OTHERS, deadline=None, database=None,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, *([Phase.shrink] if OTHERS else [])],
)  # fmt: skip


@pytest.fixture(scope="module")
def place(finished_project, tmp_path_factory):
    """A folder with results and files of every sort, what is in it, and processes to fork."""
    folder = tmp_path_factory.mktemp("fuzz") / "project"
    folder.mkdir()
    for part in ("config", "results", "resources"):
        shutil.copytree(finished_project.folder / part, folder / part)
    shutil.copy(ROOT / "config/figures.mplstyle", folder / "config/figures.mplstyle")
    odd = folder / "odd"
    (odd / "folder.nc").mkdir(parents=True)
    whole = (folder / command_lines.SHARD).read_bytes()
    (odd / "empty.nc").touch()
    (odd / "cut.nc").write_bytes(whole[: len(whole) // 2])
    (odd / "text.nc").write_text("x: 1\n")
    (odd / "link.nc").symlink_to(folder / command_lines.SHARD)
    os.mkfifo(odd / "fifo.nc")
    (odd / os.fsdecode(b"\xff.nc")).write_bytes(whole)
    return folder, cases.state(folder), cases.forks()


def check(place, words):
    folder, before, context = place
    code, said = cases.run(context, folder, words)
    wrong = cases.left_behind(folder, before)
    cases.cleared(folder, before)
    shown = f"{words}\n{said[-3000:]}"
    assert code is not None, f"hangs: {shown}"
    assert "Traceback" not in said, shown
    assert code in (0, 1, 2), f"{code}: {shown}"
    assert code == 0 or said.strip(), f"ends without a word: {shown}"
    assert not wrong, f"{wrong}: {shown}"
    assert not (folder / "PWNED").exists()
    return code


@FUZZ
@given(words=command_lines.command_lines())
def test_command_lines_end_with_a_sentence_or_a_result(place, words):
    check(place, words)


@FUZZ
@given(text=configurations.text())
def test_configurations_are_taken_or_refused_in_a_sentence(place, text):
    folder, before, context = place
    (folder / "fuzzed.yaml").write_bytes(text)
    place = folder, {**before, folder / "fuzzed.yaml": cases.state(folder)[folder / "fuzzed.yaml"]}, context
    check(place, ["check.py", "fuzzed.yaml"])
    (folder / "fuzzed.yaml").unlink()
