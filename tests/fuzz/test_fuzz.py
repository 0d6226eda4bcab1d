"""Whatever a configuration or a command line says, it ends with a sentence or a result: no stack trace, nothing that
hangs, and no file that is half there.

60 cases, always the same ones; `CARRYOVER_FUZZ=1000 pytest tests/fuzz` tries so many others of each kind.
"""

import os
import shutil

import cases
import command_lines
import configurations
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from toy.small_project import ROOT

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("fuzz")]

OTHERS = int(os.environ.get("CARRYOVER_FUZZ", "0"))
FUZZ = settings(
    max_examples=OTHERS or 30, derandomize=not OTHERS, deadline=None, database=None,
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
    return Place(folder, cases.forks())


class Place:
    """A folder, the state that it is to be in, and what to fork processes from."""

    def __init__(self, folder, context):
        self.folder, self.context = folder, context
        self.before = cases.state(folder)


def check(place, words):
    folder, before = place.folder, place.before
    code, said = cases.run(place.context, folder, words)
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
    file = place.folder / "fuzzed.yaml"
    file.write_bytes(text)
    place.before[file] = cases.state_of(file)
    check(place, ["check.py", "fuzzed.yaml"])
    del place.before[file]
    file.unlink()
