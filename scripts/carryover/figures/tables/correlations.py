"""Tables of correlations: of bounds with errors, and of what could be known beforehand with gains of finetuning."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from pydantic import NonNegativeFloat

from carryover.analysis import atlas, image_pairs
from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.runs import select_runs
from carryover.statistics import jackknife

CONSTANTS = (0.0, 0.1, 0.3, 0.59, 1.0)
"""Of eq 3 of "Finetuning with linear teachers", tried in `bound_variants`; .59 fits random instances."""
CANDIDATES = {
    "similarity": "similarity of the tasks (rows of the maps)",
    "predicted": "what theory predicts of the gain",
    "samples_per_parameter": "samples per parameter",
    "probe_gain": "gain of a linear probe on the same samples",
    "target_alignment": "alignment of the pretrained kernel with the target",
    "probe_r_squared": "R² of a readout of the pretrained features, samples left out",
    "participation_ratio_start": "participation ratio of the pretrained features",
    "divergence": "−KL divergence of the data",
    "wasserstein": "−Wasserstein-1 distance of the data",
    "ratio_flow_penalty_teacher": "penalty of the target (eq 22)",
    "ratio_bound": "tangent kernel's bound",
    "ratio_distance": "squared distance of the teachers",
    "ratio_benign_overfitting": "benign overfitting bound",
    "ratio_covariance": "covariance bound",
}
FALLS = ("divergence", "wasserstein")
"""Candidates that are small where much is gained."""


class BoundCorrelations(Model):
    constant: NonNegativeFloat = parameter(1.0, "c of eq 3; 0 for the limit of small ones")


@plugins.table(data=["bounds", "published"])
def bound_correlations(data, p: BoundCorrelations):
    """R² between the error of finetuning and bounds on it, and the published R² ("Finetuning with linear teachers",
    Table 1).

    Roles: `bounds`, the measure of an experiment of the family image_pairs, and `published`, the paper's table.

    A data frame of texts: for each bound and estimator of ours the mean ± deviation over repeats, as in the paper, and
    the mean's 95 % interval over classes of images; and the published R². A column per number of samples of ours.
    """
    table = image_pairs.pair_table(data["bounds"], p.constant)
    ours, found = image_pairs.r_squared(table), image_pairs.leave_one_class_out(table)
    sizes, texts = table["samples"].values.tolist(), []
    for bound, name in image_pairs.BOUNDS.items():
        for estimator in table["estimator"].values:
            label, at = f"ours, {image_pairs.in_words(estimator)}", {"bound": bound, "estimator": estimator}
            repeats = ours.sel(at)
            means, deviations = repeats.mean("seed", skipna=False).values, repeats.std("seed", ddof=1).values
            texts.append((name, f"{label}: R², mean ± s.d.", *map(_with_deviation, means, deviations)))
            # R² (1 + classes,) of all pairs, then leaving out one class at a time; the interval is the jackknife's.
            values = (found.sel(at | {"samples": n}).values for n in sizes)
            ends = [jackknife.estimate(one, 0.0, jackknife.R_SQUARED) for one in values]
            texts.append((name, f"{label}: R², 95 % interval", *("{low:.2f} to {high:.2f}".format(**e) for e in ends)))
        theirs = (values.reindex(sizes) for values in image_pairs.look_up_published(data["published"], bound))
        texts.append((name, "published (MNIST): R², mean ± s.d.", *map(_with_deviation, *theirs)))
    return pd.DataFrame(texts, columns=["bound", "", *(f"n = {n:g}" for n in sizes)])


def _with_deviation(mean, deviation):
    return "" if pd.isna(mean) else f"{mean:.2f} ± {deviation:.2f}"


@plugins.table(data=["published", "disjoint", "any"])
def bound_variants(data):
    """R² of the three bounds for every choice that the text of Table 1 leaves open, compared with the published R².

    Roles: `published`, the paper's table, and bounds of experiments whose tasks share no class, `disjoint`, or may,
    `any`.

    A data frame of texts: for each estimator the variant whose R² differ least from the published ones, in root mean
    square over bounds and samples, on the first half of the pairs of tasks; that difference on both halves, and R² of
    the three bounds on the second.
    """
    theirs = data["published"].set_index(["bound", "samples"])["r_squared"].to_xarray()
    variants = [variant for kind in ("disjoint", "any") for variant in _variants(data[kind], kind, theirs)]
    nearest = pd.DataFrame(variants).sort_values("difference").drop_duplicates("learned")
    texts = nearest.drop(columns="other half").join(pd.DataFrame([*nearest["other half"]], nearest.index))
    sizes = [column for column in texts if column.startswith("n = ")]
    published = {f"n = {n}": _three(theirs.sel(samples=n)) for n in (int(size[4:]) for size in sizes)}
    first = pd.DataFrame([{"learned": "published"} | published])
    for name in ("difference", "difference, other half"):
        texts[name] = texts[name].map("{:.2f}".format)
    return pd.concat([first, texts])[texts.columns].fillna("").reset_index(drop=True)


def _variants(bounds, kind, theirs):
    """Rows (dictionaries) of `bound_variants` on tasks of one kind: a variant, its difference from theirs, and its R².

    `bounds` is a dataset over `run`, `theirs` (bound, samples) the published R². One half of the pairs chooses the
    variant, the other shows what the choice is worth."""
    of_runs = {"pixels": "pixels", "target_from": "θ_T from"}
    for pixels, target_from in product(*(np.unique(bounds[name]) for name in of_runs)):
        runs = select_runs(bounds, pixels=pixels, target_from=target_from)
        for constant in CONSTANTS:
            table = image_pairs.pair_table(runs, constant)
            first = np.arange(table.sizes["pair"]) < table.sizes["pair"] // 2
            halves = [image_pairs.mean_r_squared(table.isel(pair=half)) for half in (first, ~first)]
            differences = [(((half - theirs) ** 2).mean(["bound", "samples"]) ** 0.5) for half in halves]
            for place, estimator in enumerate(table["estimator"].values):
                found = halves[1].sel(estimator=estimator)
                yield {
                    "learned": image_pairs.in_words(estimator),
                    "pixels": pixels,
                    "θ_T from": {"zero": "0", "source": "θ_S"}[target_from],
                    "c": f"{constant:g}" if constant else "small",
                    "classes": {"disjoint": "four", "any": "any"}[kind],
                    "difference": differences[0].values[place],
                    "difference, other half": differences[1].values[place],
                    "other half": {f"n = {n}": _three(found.sel(samples=n)) for n in found["samples"].values},
                }


def _three(values):
    """R² of the three bounds in a text, in their order."""
    return " ".join(f"{values.sel(bound=bound).item():.2f}" for bound in image_pairs.BOUNDS)


@plugins.table()
def predictors(data):
    """What predicts gains of finetuning: rank correlations of what could be known beforehand.

    Roles: maps, as comparisons.atlas makes them.

    A data frame of texts: for each candidate Spearman's correlation with the gain of finetuning over the cells and
    seeds of each map, and its mean over the maps that have it, with intervals of 95 % by the jackknife over seeds. If
    several maps have it, also the share of decided cells whose sign a threshold on the candidate predicts, and the
    share for which the more frequent sign is right; for each map, the other maps choose threshold and sign.
    """
    maps = {pairs.attrs["map_family"]: atlas.select_finetuned(pairs) for pairs in data.values()}
    maps = {family: frame for family, frame in maps.items() if len(frame)}
    texts = {}
    for name, meaning in CANDIDATES.items():
        known = {family: frame for family, frame in maps.items() if name in frame and frame[name].nunique() > 1}
        if known:
            texts[meaning] = {family: _order([frame], name) for family, frame in known.items()}
            texts[meaning] |= {"mean": _order([*known.values()], name), "families": f"{len(known)} of {len(maps)}"}
            texts[meaning] |= {"sign": _sign(known, name), "more frequent sign": _sign(known, None)}
    columns = [*maps, "mean", "families", "sign", "more frequent sign"]
    table = pd.DataFrame.from_dict(texts, orient="index", columns=columns).fillna("")
    return table.rename_axis("known beforehand").reset_index()


def _order(frames, name):
    """The mean rank correlation of a candidate (column `name`) with the gain, as text, with its jackknife interval;
    `frames`, one a map, have a row for each cell and seed. Of distances the sign is turned, as their names say."""
    values = np.array(atlas.leave_seeds_out(frames, partial(atlas.order, column=name)))
    order = jackknife.estimate(-values if name in FALLS else values, 0.0, over="seeds")
    low, high = max(order["low"], -1), min(order["high"], 1)
    return f"{order['statistic']:.2f} ({low:.2f} to {high:.2f})".replace("-", "−") if np.isfinite(values).all() else ""


def _sign(maps, name):
    """The share of decided cells whose sign a threshold on a candidate gives, or the more frequent sign if there is no
    candidate, as text with its jackknife interval; other maps choose it. Empty for fewer than two maps."""
    turn = -1.0 if name in FALLS else 1.0
    frames = [frame.assign(value=turn * frame[name] if name else 0.0) for frame in maps.values()]
    if len(frames) < 2:
        return ""

    def share(parts):
        tables = [atlas.cells(part).dropna(subset="right") for part in parts]
        decided = [table for table in tables if len(table)]
        return atlas.leave_one_family_out(decided, "value") if len(decided) > 1 else np.nan

    values = np.array(atlas.leave_seeds_out(frames, share))
    found = jackknife.estimate(values, 0.0, jackknife.PROPORTION, over="seeds")
    words = f"{found['statistic']:.2f} ({max(found['low'], 0):.2f} to {min(found['high'], 1):.2f})"
    return words if np.isfinite(values).all() else ""
