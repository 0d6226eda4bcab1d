"""What a diagnosis found: a dataset that reads well in a notebook, and several of them as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from carryover.diagnosis.quantities import MEANING, PAPERS, TEXTS, WITH_INTERVALS
from carryover.errors import UserError


class Diagnosis(xr.Dataset):
    """What `diagnose` returns, an xarray dataset by layer with a headline."""

    __slots__ = ()

    @property
    def headline(self) -> str:
        """'3 layers: select in 2 (conv3, conv4), undecided in 1 (conv5). …'"""
        from carryover.diagnosis.report import headline

        return headline(self)

    def plot(self, **options: Any) -> Any:  # type: ignore[override]
        """A figure of shares, dimensions and ratios by layer."""
        from carryover.diagnosis.figure import draw

        return draw(self, **options)

    def _repr_html_(self) -> str:
        from carryover.diagnosis.report import table

        return table(self) if "regime" in self and "layer" in self.dims else super()._repr_html_()


def assembled(names: Sequence[str], rows: Sequence[dict[str, Any]], attributes: dict[str, Any]) -> Diagnosis:
    """The dataset of all layers."""
    order = [name for name in MEANING if any(name in row for row in rows)]
    columns = {
        name: ("layer", [row.get(name, "" if name in TEXTS else np.nan) for row in rows], meaning_of(name))
        for name in order
    }
    layer = ("layer", list(names), {"long_name": "layer of the network", "units": "1"})
    return Diagnosis(columns, {"layer": layer}, attributes)


def meaning_of(name: str) -> dict[str, str]:
    """Attributes of a variable."""
    return {"long_name": MEANING[name], "units": "1"}


def over_seeds(results: Iterable[xr.Dataset], confidence: float = 0.95) -> xr.Dataset:
    """Several diagnoses of the same layers, of networks of other seeds, as one, (layer,).

    Returns
    -------
    `regime`, the verdict of most decided seeds, "undecided" where not more than half of all seeds have it, how many
    seeds have it (`agreeing`) of how many (`seeds`), and of every quantity the mean over seeds with Student's interval,
    which is about other networks and not other samples.

    Raises
    ------
    UserError
        For fewer than two, and for other layers.
    """
    found = list(results)
    if len(found) < 2:
        raise UserError(f"results must be of two seeds or more, got {len(found)}")
    layers = found[0]["layer"].values.tolist()
    for number, one in enumerate(found):
        if (others := one["layer"].values.tolist()) != layers:
            raise UserError(f"results must have the same layers, but number {number} has {others}")
    regimes = zip(*(one["regime"].values.tolist() for one in found), strict=True)
    most = [Counter(regime).most_common(1)[0] for regime in regimes]
    data: dict[str, Any] = {
        "regime": ("layer", [name if 2 * number > len(found) else "undecided" for name, number in most]),
        "agreeing": ("layer", [number for _, number in most]),
        "seeds": ("layer", [len(found)] * len(layers)),
    }
    for name, meaning in (PAPERS | WITH_INTERVALS).items():
        if all(name in one for one in found):
            values = np.array([one[name].values for one in found])
            mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / len(found) ** 0.5
            reach = error * stats.t.ppf((1 + confidence) / 2, len(found) - 1)
            data[name] = ("layer", mean, {"long_name": f"mean over seeds of: {meaning}", "units": "1"})
            data |= {f"{name}_low": ("layer", mean - reach), f"{name}_high": ("layer", mean + reach)}
    return xr.Dataset(data, {"layer": layers})
