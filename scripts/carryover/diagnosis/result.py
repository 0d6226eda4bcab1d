"""What a diagnosis found: a dataset that reads well in a notebook, and several of them as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from carryover.diagnosis.activations.headline import headline
from carryover.diagnosis.activations.quantities import FACTS, MEANING, PAPERS, VERDICT, WEIGHTS
from carryover.errors import UserError

_INTERVALS = [f"{name}{end}" for name in MEANING for end in ("", "_low", "_high")]


class Diagnosis(xr.Dataset):
    """What `diagnose` returns, an xarray dataset by layer with a headline."""

    __slots__ = ()

    @property
    def headline(self) -> str:
        """'3 layers: select in 2 (conv3, conv4), undecided in 1 (conv5). …'"""
        return headline(self)

    def plot(self, **options: Any) -> Any:  # type: ignore[override]
        """A figure of shares, dimensions and ratios by layer."""
        from carryover.diagnosis.activations.figure import draw

        return draw(self, **options)

    def _repr_html_(self) -> str:
        if "regime" not in self or "layer" not in self.dims:
            return super()._repr_html_()
        from carryover.diagnosis.activations.page import fragment

        return fragment(self)


def assembled(names: Sequence[str], rows: Sequence[dict[str, Any]], p: Any, reference: str) -> Diagnosis:
    """The dataset of all layers, the verdict first; p: the parameters, kept as attributes."""
    order = [name for name in (*VERDICT, *PAPERS, *_INTERVALS, *FACTS) if any(name in row for row in rows)]
    missing = {name: "" if name in VERDICT else np.nan for name in order}
    columns = {key: ("layer", [row.get(key, missing[key]) for row in rows]) for key in order}
    result = Diagnosis(columns, coords={"layer": list(names)})
    describe(result)
    result.attrs = p.model_dump() | {"reference": reference}
    result.attrs.pop("layers", None)
    return result


def describe(result: xr.Dataset) -> None:
    """Give every variable its meaning and units."""
    meanings = FACTS | VERDICT | PAPERS | MEANING | WEIGHTS | {"layer": "layer of the network"}
    ends = {"low": "lower", "high": "upper"}
    for name, variable in result.variables.items():
        stem, _, end = str(name).rpartition("_")
        meaning = f"{ends[end]} end of the interval of: {MEANING[stem]}" if end in ends else meanings[str(name)]
        variable.attrs = {"long_name": meaning, "units": "1"}


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
    names = [name for name in PAPERS | MEANING if all(name in one for one in found)]
    for name in names:
        values = np.array([one[name].values for one in found])
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / len(found) ** 0.5
        reach = error * stats.t.ppf((1 + confidence) / 2, len(found) - 1)
        data |= {name: ("layer", mean), f"{name}_low": ("layer", mean - reach), f"{name}_high": ("layer", mean + reach)}
    result = xr.Dataset(data, coords={"layer": layers})
    for name in names:
        result[name].attrs = {"long_name": f"mean over seeds of: {(PAPERS | MEANING)[name]}", "units": "1"}
    return result
