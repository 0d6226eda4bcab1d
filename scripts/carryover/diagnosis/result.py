"""What a diagnosis found: a dataset that reads well in a notebook, and several of them as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from carryover.diagnosis.activations import regimes
from carryover.diagnosis.activations.quantities import BY_COMPONENT, FACTS, MEANING, VERDICT, Layer
from carryover.errors import UserError


class Diagnosis(xr.Dataset):
    """What `diagnose` returns, an xarray dataset by layer (and, of spectra, by component), with a headline."""

    __slots__ = ()

    @property
    def headline(self) -> str:
        """'3 layers: select in 2 (conv3, conv4), undecided in 1 (conv5).'"""
        return regimes.summary(self["layer"].values.tolist(), self["regime"].values.tolist())

    def to_dataframe(self, dim_order: Sequence[Any] | None = None) -> pd.DataFrame:
        """A row a layer; of the spectra's variables, where only such are selected, a row a layer and component."""
        by_layer = [name for name, variable in self.data_vars.items() if "component" not in variable.dims]
        return xr.Dataset.to_dataframe(self[by_layer] if by_layer else self, dim_order)

    def plot(  # type: ignore[override]
        self, kind: str = "shares", **options: Any
    ) -> Any:
        """A figure: "shares", of shares and dimensions; "spectra"; or "canonical", of canonical correlations."""
        from carryover.diagnosis.activations import figure

        kinds = {"shares": figure.draw, "spectra": figure.draw_spectra, "canonical": figure.draw_canonical}
        if kind not in kinds:
            raise UserError(f"kind must be one of {', '.join(kinds)}, got {kind!r}")
        return kinds[kind](self, **options)

    def _repr_html_(self) -> str:
        if "regime" not in self or "layer" not in self.dims:
            return super()._repr_html_()
        from carryover.diagnosis.activations.page import fragment

        return fragment(self)


def assembled(names: Sequence[str], rows: Sequence[Layer], p: Any, reference: str) -> Diagnosis:
    """The dataset of all layers; p: the parameters, kept as attributes."""
    scalars = {key: ("layer", [row.values[key] for row in rows]) for key in _order(rows[0].values)}
    longest = max(len(values) for row in rows for values in row.spectra.values())
    spectra = {
        key: (("layer", "component"), np.array([_padded(row.spectra.get(key, []), longest) for row in rows]))
        for key in BY_COMPONENT
    }
    result = Diagnosis(scalars | spectra, coords={"layer": list(names), "component": np.arange(1, longest + 1)})
    meanings = FACTS | VERDICT | MEANING | BY_COMPONENT
    meanings |= {"layer": "layer of the network", "component": "component, in the order of variances or correlations"}
    ends = {"low": "lower", "high": "upper"}
    for name, variable in result.variables.items():
        stem, _, end = str(name).rpartition("_")
        meaning = f"{ends[end]} end of the interval of: {MEANING[stem]}" if end in ends else meanings[str(name)]
        variable.attrs = {"long_name": meaning, "units": "1"}
    result.attrs = p.model_dump() | {"reference": reference}
    result.attrs.pop("layers", None)
    return result


def _order(row: dict[str, Any]) -> list[str]:
    """The verdict first, then what it rests on."""
    of_interval = [f"{name}{end}" for name in MEANING for end in ("", "_low", "_high")]
    return [name for name in (*VERDICT, *of_interval, *FACTS) if name in row]


def _padded(values: Any, length: int) -> np.ndarray:
    return np.pad(np.asarray(values, float), (0, length - len(values)), constant_values=np.nan)


def over_seeds(results: Iterable[xr.Dataset], confidence: float = 0.95) -> xr.Dataset:
    """Several diagnoses of the same layers, of networks of other seeds, as one, (layer,).

    Returns `regime`, the verdict of most decided seeds, "undecided" where not more than half of all seeds have it, how
    many seeds have it (`agreeing`) of how many (`seeds`), and of every quantity with an interval the mean over seeds
    with Student's interval of it, which speaks of other networks and not of other samples.

    Raises UserError for fewer than two, and for other layers.
    """
    found = list(results)
    if len(found) < 2:
        raise UserError(f"results must be of two seeds or more, got {len(found)}")
    layers = found[0]["layer"].values.tolist()
    for number, one in enumerate(found):
        if one["layer"].values.tolist() != layers:
            raise UserError(
                f"results must have the same layers, but number {number} has {one['layer'].values.tolist()}"
            )
    counts = [Counter(one["regime"].values[place] for one in found) for place in range(len(layers))]
    most = [count.most_common(1)[0] for count in counts]
    data: dict[str, Any] = {
        "regime": ("layer", [name if 2 * number > len(found) else "undecided" for name, number in most]),
        "agreeing": ("layer", [number for _, number in most]),
        "seeds": ("layer", [len(found)] * len(layers)),
    }
    for name in MEANING:
        values = np.array([one[name].values for one in found])
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / len(found) ** 0.5
        reach = error * stats.t.ppf((1 + confidence) / 2, len(found) - 1)
        data |= {name: ("layer", mean), f"{name}_low": ("layer", mean - reach), f"{name}_high": ("layer", mean + reach)}
    result = xr.Dataset(data, coords={"layer": layers})
    for name in MEANING:
        result[name].attrs = {"long_name": f"mean over seeds of: {MEANING[name]}", "units": "1"}
    return result
