"""A trajectory is its diagnoses one by one, in the order of steps, and its figure shows what it holds."""

import shutil

import matplotlib.pyplot as plt
import numpy as np
import pytest

from carryover.diagnosis.diagnosis import Parameters, diagnose
from carryover.diagnosis.recording import record
from carryover.diagnosis.trajectory import draw_trajectory, trajectory
from carryover.errors import UserError
from toy.recorded import numbers, small

SAMPLES = numbers(300, 6)
RNG = np.random.default_rng(0)


def drifting(steps, layers=2):
    """{step: recording} of layers that turn into others in proportion to the step, the second more slowly."""
    start = RNG.standard_normal((2, layers, 300, 8))
    return {
        step: {f"layer{n}": start[0, n] + step / (100 * (1 + n)) * start[1, n] for n in range(layers)} for step in steps
    }


@pytest.fixture
def folder(tmp_path):
    net = small()
    for step in (200, 0, 1000):
        with record(net, ["0.1", "1"], tmp_path / f"step_{step:06d}.nc") as see:
            see(SAMPLES)
        net[0][1].weight.data += 0.3
    return tmp_path


def test_it_is_the_diagnosis_of_each_against_the_first(folder):
    found = trajectory(folder, progress=False, p=Parameters(confidence=0.9))
    assert found["step"].values.tolist() == [0, 200, 1000]
    assert found["layer"].values.tolist() == ["0.1", "1"]
    assert (found.attrs["first"], found.attrs["confidence"]) == (0, 0.9)
    for step in (0, 200, 1000):
        one = diagnose(folder / "step_000000.nc", folder / f"step_{step:06d}.nc", p=Parameters(confidence=0.9))
        for name in ("cka", "cka_low", "participation_ratio_after", "regime"):
            assert (found.sel(step=step)[name].values == one[name].values).all()
    files = sorted(folder.glob("step*"), reverse=True)
    assert trajectory(files, "1", progress=False).sel(layer="1")["cka"].values == pytest.approx(
        found.sel(layer="1")["cka"].values
    )


@pytest.mark.parametrize("layers", [2, 12])
def test_the_figure_has_a_line_a_layer_and_intervals_in_their_range(layers):
    found = trajectory(drifting((0, 10, 100), layers), progress=False)
    fig = draw_trajectory(found)
    panels = [ax for ax in fig.axes if ax.get_title()]
    assert [ax.get_title()[3:].partition("\n")[0] for ax in panels[:2]] == ["participation ratio", "CKA with the first"]
    for ax, name in zip(panels, ("participation_ratio_after", "cka"), strict=False):
        assert len(ax.lines) == layers
        np.testing.assert_allclose(ax.lines[1].get_ydata(), found[name].sel(layer="layer1"))
        assert ax.get_ylim()[0] == 0
    for band in panels[1].collections:
        assert band.get_paths()[0].vertices[:, 1].max() <= 1
    legend = panels[-1].get_legend()
    assert ([text.get_text() for text in legend.get_texts()] if legend else None) == (
        ["layer0", "layer1"] if layers == 2 else None
    )
    plt.close(fig)


def test_what_is_no_trajectory_is_refused(folder):
    (folder / "nothing").mkdir()
    with pytest.raises(UserError, match=r"recordings must be of two steps or more, got 0 in .*nothing"):
        trajectory(folder / "nothing")
    with pytest.raises(UserError, match=r"a folder, files or \{step: recording\}, and .*step_000000\.nc is no folder"):
        trajectory(folder / "step_000000.nc")
    shutil.copy(folder / "step_000000.nc", folder / "last.nc")
    with pytest.raises(UserError, match=r"called step_<number>, as step_000100\.nc, got .*last\.nc: give"):
        trajectory([folder / "step_000000.nc", folder / "last.nc"])
    shutil.copy(folder / "step_000000.nc", folder / "step_0.nc")
    with pytest.raises(UserError, match=r"of steps of their own, and .* and .* are of one"):
        trajectory(folder)
    kept = drifting((0, 7))
    with pytest.raises(UserError, match=r"recordings must be of two steps or more, got 1$"):
        trajectory({0: kept[0]})
    with pytest.raises(UserError, match=r"step 7: .* must have the same samples, got 300 and 299"):
        trajectory({0: kept[0], 7: {name: values[1:] for name, values in kept[7].items()}}, progress=False)
