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
from typing import Any

import numpy as np
from tqdm import tqdm

from carryover.diagnosis.activations.inheritance import sample_blocks
from carryover.diagnosis.activations.quantities import of_layer
from carryover.diagnosis.activations.sources import ALONE, Activations, as_array, matrices, opened, same_order
from carryover.diagnosis.activations.task import Task
from carryover.diagnosis.parameters import Parameters
from carryover.diagnosis.result import Diagnosis, assembled
from carryover.errors import UserError

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
        The quantities of `quantities.PAPERS` and `quantities.MEANING`, (layer,), the latter with intervals `…_low` and
        `…_high`: jackknife over blocks of samples, Student's t. Intervals of shares are wider by what the second half
        of the samples changed. Then the verdicts and their reasons.

    Raises
    ------
    UserError
        A ValueError, in one sentence, for files that cannot be read, samples that differ in number or order, layers
        that one side lacks, that are not finite or are the same for all samples, and for labels that no probe can be
        fitted to.
    """
    if not isinstance(p, Parameters):
        raise UserError(f"p must be Parameters, as Parameters(confidence=0.9), got {type(p).__name__}")
    if not (layers is None or isinstance(layers, str | Sequence)):
        raise UserError(f"layers must be a layer's name or several, got {layers!r}")
    named = {"before": before, "after": after, "baseline": baseline, "control": control}
    with ExitStack() as stack:
        sides = {
            name: stack.enter_context(opened(source, name))
            for name, source in named.items()
            if source is not None or name in ("before", "after")
        }
        names = _same(list(sides.values()), [layers] if isinstance(layers, str) else layers)
        ids = [side.ids for side in (sides["before"], sides["after"])]
        ordered = all(one is not None for one in ids)
        one_id = next((one for one in ids if one is not None), None)
        rows = []
        task = None
        for name in tqdm(names, "layers", disable=not progress, leave=False):
            found = dict(zip(sides, matrices(list(sides.values()), name), strict=True))
            samples = len(found["before"])
            if labels is not None and task is None:
                task = Task.of(as_array("labels", labels), samples)
            block = sample_blocks(samples, one_id)
            groups = samples if one_id is None else len(np.unique(one_id))
            other = found.pop("control", None)
            rows.append(of_layer(list(found.values()), block, ordered, groups, p, task, other))
    return assembled(names, rows, p, "permutation of samples" if baseline is None else "baseline")


def _same(sides: Sequence[Activations], layers: Sequence[str] | None) -> list[str]:
    """Names of the layers to compare, once all have them and the same samples."""
    first = sides[0]
    names = list(dict.fromkeys([*first.layers, *sides[1].layers] if layers is None else layers))
    for side in sides:
        if missing := [name for name in names if name not in side.layers]:
            raise UserError(
                f"{side.name} lacks the layer {missing[0]}; it has {', '.join(side.layers)}: name layers that all have"
                + (f" (an array by itself is a layer called {ALONE})" if ALONE in names else "")
            )
    if not names:
        raise UserError("layers must name at least one layer")
    for side in sides[1:]:
        same_order(first, side)
    return names
