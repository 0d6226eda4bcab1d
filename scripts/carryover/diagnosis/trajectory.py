"""How features change over a training: each recording of it diagnosed against the first.

from carryover.diagnosis.trajectory import draw_trajectory, trajectory
result = trajectory("recordings")            # step_000000.nc, step_000100.nc, … as callbacks write them
draw_trajectory(result).savefig("trajectory.png")
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from tqdm import tqdm

from carryover.diagnosis.diagnosis import DEFAULTS, Parameters, diagnose
from carryover.errors import UserError

_STEP = re.compile(r"step_(\d+)")
_DRAWN = {
    "participation_ratio_after": "participation ratio",
    "cka": "CKA with the first",
    "inherited_share": "share of its components\nthat the first tells",
    "kept_share": "share of the first's\ncomponents that it tells",
}
_FEW = 10  # layers that a legend names one by one


def trajectory(
    recordings: str | Path | Sequence[str | Path] | Mapping[int, Any],
    layers: str | Sequence[str] | None = None,
    *,
    baseline: Any = None,
    progress: bool = True,
    p: Parameters = DEFAULTS,
) -> xr.Dataset:
    """What `diagnose` says of every recording against the first, (step, layer).

    Args:
        recordings: a folder of files `step_<number>.nc`, files of such names in any order, or {step: recording} of
            anything that `diagnose` takes; two or more, of the same samples in the same order.
        layers: the ones to look at, by name; all by default.
        baseline: a recording of an unrelated network, as `diagnose` takes it; None: there is none.
        progress: whether to show a bar on the standard error.
        p: criteria, as `diagnose` takes them.

    Raises:
        UserError: a ValueError, for a folder without such files, files of other names, and what `diagnose` refuses,
            naming the step.
    """
    found = _by_step(recordings)
    if len(found) < 2:
        where = f" in {recordings}" if isinstance(recordings, str | Path) else ""
        raise UserError(f"recordings must be of two steps or more, got {len(found)}{where}")
    steps = sorted(found)
    names = [layers] if isinstance(layers, str) else layers
    third: dict[str, Any] = {} if baseline is None else {"baseline": baseline}
    results = []
    for step in tqdm(steps, unit=" steps", disable=not progress, file=sys.stderr):
        try:
            results.append(diagnose(found[steps[0]], found[step], layers=names, p=p, **third))
        except UserError as error:
            raise UserError(f"step {step}: {error}") from None
    plain = [xr.Dataset(one.data_vars, one.coords, one.attrs) for one in results]  # what `diagnose` returns says more
    joined = xr.concat(
        plain, "step", data_vars="all", coords="minimal", compat="override", join="outer", combine_attrs="override"
    )
    joined = joined.assign_coords(step=("step", steps, {"long_name": "steps of training", "units": "1"}))
    joined.attrs = results[0].attrs | {"first": steps[0]}
    return joined


def _by_step(recordings: Any) -> dict[int, Any]:
    if isinstance(recordings, Mapping):
        return {int(step): recording for step, recording in recordings.items()}
    if isinstance(recordings, str | Path):
        folder = Path(recordings)
        if not folder.is_dir():
            raise UserError(f"recordings must be a folder, files or {{step: recording}}, and {folder} is no folder")
        files = sorted(folder.glob("step_*.nc"))
    else:
        files = [Path(file) for file in recordings]
    found: dict[int, Path] = {}
    for file in files:
        step = _STEP.fullmatch(file.stem)
        if step is None:
            raise UserError(f"files must be called step_<number>, as step_000100.nc, got {file}: give {{step: file}}")
        if (number := int(step[1])) in found:
            raise UserError(f"recordings must be of steps of their own, and {found[number]} and {file} are of one")
        found[number] = file
    return found


def draw_trajectory(result: xr.Dataset) -> Figure:
    """Lines over steps, a layer each from dark (first) to light, with the intervals as bands.

    `result` is what `trajectory` returned.
    """
    drawn = {name: label for name, label in _DRAWN.items() if name in result}
    names, steps = [str(name) for name in result["layer"].values], result["step"].values
    fig, axes = plt.subplots(1, len(drawn), figsize=(1.0 + 3.2 * len(drawn), 3.4), squeeze=False, layout="constrained")
    colours = colormaps["viridis"](np.linspace(0, 0.9, max(2, len(names))))
    for place, (ax, (name, label)) in enumerate(zip(axes[0], drawn.items(), strict=True)):
        for layer, colour in zip(names, colours, strict=False):
            one = result.sel(layer=layer)
            ax.plot(steps, one[name], color=colour, marker=".", linewidth=1.2, label=layer)
            ax.fill_between(steps, *(_ends(one, name)), color=colour, alpha=0.2, linewidth=0)
        ax.set(title=f"{'abcd'[place]}  {label}", xlabel="steps of training")
        ax.set_ylim(bottom=0)
        if name != "participation_ratio_after":
            ax.set_ylim(0, 1.05)
    if len(names) <= _FEW:
        axes[0, -1].legend(loc="upper left", bbox_to_anchor=(1, 1), title="layer")
    else:
        bar = plt.cm.ScalarMappable(plt.Normalize(1, len(names)), colormaps["viridis"].resampled(len(names)))
        fig.colorbar(bar, ax=axes[0, -1], label="number of the layer")
        fig.supxlabel(f"layers from 1, {names[0]}, to {len(names)}, {names[-1]}", fontsize="small")
    level = f"{result.attrs['confidence']:.0%}"
    fig.suptitle(f"Each recording against that of step {result.attrs['first']} (bands: {level} intervals)")
    return fig


def _ends(result: xr.Dataset, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The interval, in the range that the quantity can have."""
    most = np.inf if name == "participation_ratio_after" else 1.0
    low, high = (result[f"{name}_{end}"].values if f"{name}_{end}" in result else result[name].values
                 for end in ("low", "high"))  # fmt: skip
    return np.clip(low, 0, most), np.clip(high, 0, most)
