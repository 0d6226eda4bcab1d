"""What finetuning did to the features of a network of one's own: select, reweight, add, replace, or nothing?

    from carryover import diagnose
    result = diagnose("before.npz", "after.npz")         # or mappings {layer: (samples, units)}, or two arrays
    print(result.headline)

Section G of "Feature reuse in multi-task learning and finetuning (appendix)" asks it by the participation ratio (PR)
and the effective number of shared dimensions (ENSD), which weigh directions by their variance. They are given as the
paper has them; the verdict is by measures in which every component weighs the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tqdm import tqdm

from carryover.diagnosis.activations.overlaps import dealt
from carryover.diagnosis.activations.quantities import of_layer
from carryover.diagnosis.activations.sources import ALONE, Activations, matrices, opened, same_order
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
    progress: bool = False,
) -> Diagnosis:
    """What became of every layer, with the paper's measures and those that decide, and their intervals, (layer,).

    Args:
        before, after: activations by layer of the pretrained and the finetuned network, in response to the same samples
            in the same order: mappings {layer: (samples, …)}, arrays or tensors of one layer, or files, npz, npy (one
            layer), netCDF or safetensors. An array `sample_id` or `id` (samples,) names the samples, and is compared
            where both have it.
        layers: the ones to look at, or the one; all by default.
        p: criteria, fixed before the data were seen.
        baseline: the same of an unrelated network, such as a re-initialised one of the same shape: shares are beyond
            what it tells. Without it they are beyond a permutation of samples, and a layer that an unrelated network of
            the same inputs might tell as well is undecided.
        progress: whether layers are counted on stderr while they are diagnosed.

    Returns:
        A dataset with the quantities of `quantities.MEANING`, each with its interval `…_low`, `…_high`: jackknife over
        blocks of samples, Student's t, centred at the estimate less its bias of order 1/samples, which is why a PR of
        few samples may lie below its own interval. Intervals of shares are wider by what the second half of the
        samples changed. Then `regime` and what it rests on.

    Raises:
        UserError: a ValueError, in one sentence, for files that cannot be read, samples that differ in number or
            order, layers that one side lacks, that are not finite or that are the same for all samples.
    """
    if not isinstance(p, Parameters):
        raise UserError(f"p must be Parameters, as Parameters(confidence=0.9), got {type(p).__name__}")
    if not (layers is None or isinstance(layers, str | Sequence)):
        raise UserError(f"layers must be a layer's name or several, got {layers!r}")
    sides = {"before": before, "after": after} | ({} if baseline is None else {"baseline": baseline})
    with ExitStack() as stack:
        opened_sides = [stack.enter_context(opened(source, name)) for name, source in sides.items()]
        names = _same(opened_sides, [layers] if isinstance(layers, str) else layers)
        named = all(side.ids is not None for side in opened_sides[:2])
        rows = []
        for name in tqdm(names, "layers", disable=not progress, leave=False):
            found = matrices(opened_sides, name)
            rows.append(of_layer(found, dealt(len(found[0])), named, p))
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
