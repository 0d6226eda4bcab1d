"""What finetuning did to the features of a network of one's own: select, reweight, add, replace, or nothing?

    from carryover import diagnose
    result = diagnose("before.npz", "after.npz")         # or mappings {layer: (samples, units)}, or two arrays
    print(result.headline)

Section G of "Feature reuse in multi-task learning and finetuning (appendix)" uses the participation ratio (PR) and the
effective number of shared dimensions (ENSD), which weigh directions by their variance. They are given as in the paper;
the verdict uses measures in which every component weighs the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field
from tqdm import tqdm

from carryover.config.parameters import Model, parameter
from carryover.diagnosis import report
from carryover.diagnosis.inheritance import sample_blocks
from carryover.diagnosis.quantities import MEANING, TEXTS, Sampling, attributes, of_layer
from carryover.diagnosis.sources import as_array, check_comparable, opened
from carryover.diagnosis.task import Task
from carryover.errors import UserError


class Parameters(Model):
    """Criteria, fixed before the data are seen."""

    most: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.8, "share of the components from which on a layer is inherited, or kept")  # fmt: skip
    factor: Annotated[float, Field(ge=1)] = parameter(
        1.5, "typical factor between changes of variances from which on they count")  # fmt: skip
    variance: Annotated[float, Field(gt=0, le=0.999999)] = parameter(
        0.95, "share of the variance that counted components hold")  # fmt: skip
    enough: Annotated[float, Field(ge=1)] = parameter(10.0, "least samples, in multiples of the larger PR")
    confidence: Annotated[float, Field(gt=0, le=0.999)] = parameter(
        0.95, "probability that an interval contains the truth")  # fmt: skip


class Options(Parameters):
    """What the command line and the configuration say of a diagnosis."""

    layers: tuple[str, ...] = parameter((), "layers to look at; none: all")


class Diagnosis(xr.Dataset):
    """What `diagnose` returns, an xarray dataset by layer with a headline."""

    __slots__ = ()

    @property
    def headline(self) -> str:
        """'3 layers: select in 2 (conv3, conv4), undecided in 1 (conv5). …'"""
        return report.headline(self)

    def plot(self) -> Figure:  # type: ignore[override]
        """A figure of shares, dimensions and ratios by layer."""
        return report.draw(self)


DEFAULTS = Parameters()


def diagnose(
    before: Mapping[str, Any] | str | Path | Any,
    after: Mapping[str, Any] | str | Path | Any,
    *,
    layers: Sequence[str] | str | None = None,
    p: Parameters = DEFAULTS,
    baseline: Mapping[str, Any] | str | Path | Any | None = None,
    labels: Any = None,
    control: Mapping[str, Any] | str | Path | Any | None = None,
    progress: bool = False,
) -> Diagnosis:
    """Diagnose each layer: what happened to its features, and to what the task needs.

    Parameters
    ----------
    before, after
        Activations by layer of the pretrained and the finetuned network, in response to the same samples in the same
        order: mappings {layer: (samples, …)}, arrays or tensors of one layer, or files, npz, npy (one layer), netCDF or
        safetensors. An array `sample_id` or `id` (samples,) names the samples. It is compared where both have it, and
        samples of one name, such as crops of one image, are left out together.
    layers
        The ones to look at; all by default.
    p
        Criteria, fixed before the data were seen.
    baseline
        The same of an unrelated network, such as a re-initialised one of the same shape: shares are beyond its R².
        Without it a layer that an unrelated network might predict as well is undecided.
    labels
        (samples,) classes, or (samples,) or (samples, targets) numbers, which a linear probe is to read.
    control
        The same as `after`, of a second finetuning with another seed.
    progress
        Whether layers are counted on the standard error.

    Returns
    -------
    Diagnosis
        The variables of `quantities.MEANING`, (layer,). Intervals are of the jackknife over blocks of samples, with
        Student's t; those of shares are wider by what the second half of the samples changed.

    Raises
    ------
    UserError
        A ValueError, in one sentence, for files that cannot be read, samples that differ in number or order or are
        fewer than 20, layers that one side lacks, that are not finite or are the same for all samples, and for labels
        that no probe can be fitted to.
    """
    given = {"before": before, "after": after}
    given |= {name: side for name, side in (("baseline", baseline), ("control", control)) if side is not None}
    with ExitStack() as stack:
        sides = {name: stack.enter_context(opened(source, name)) for name, source in given.items()}
        chosen = [layers] if isinstance(layers, str) else layers
        names = list(dict.fromkeys([*sides["before"].layers, *sides["after"].layers] if chosen is None else chosen))
        if not names:
            raise UserError("layers must name at least one layer")
        check_comparable(list(sides.values()), names)
        ids = [side.ids for side in (sides["before"], sides["after"])]
        sample_id = next((one for one in ids if one is not None), None)
        rows: list[dict[str, Any]] = []
        task = None
        for name in tqdm(names, "layers", disable=not progress, leave=False):
            found = {key: side.matrix(name) for key, side in sides.items()}
            samples = len(found["before"])
            for key, X in found.items():
                if len(X) != samples:
                    both = f"{sides['before'].name} and {sides[key].name}"
                    raise UserError(f"{both} must have the same samples, got {samples} and {len(X)} of them")
            if labels is not None and task is None:
                task = Task.of(as_array(labels), samples)
            groups = samples if sample_id is None else len(np.unique(sample_id))
            sampling = Sampling(sample_blocks(samples, sample_id), groups, all(one is not None for one in ids))
            second = found.pop("control", None)
            rows.append(of_layer(list(found.values()), sampling, p, task, second))
    columns = {
        name: ("layer", [row.get(name, "" if name in TEXTS else np.nan) for row in rows], attributes(name))
        for name in MEANING
        if any(name in row for row in rows)
    }
    layer = ("layer", names, {"long_name": "layer of the network", "units": "1"})
    reference = "permutation of samples" if baseline is None else "baseline"
    return Diagnosis(columns, {"layer": layer}, p.model_dump(exclude={"layers"}) | {"reference": reference})
