"""What features ReLU networks learn: clusters, dimensions and norms (Fig. 5, 6 and 8 of feature reuse).

A figure takes {role: xarray dataset over `run`} and its options `p`, and returns a Matplotlib figure. PT+FT is
finetuning, STL single-task and MTL multi-task learning. Helpers for panels return a group as `layout.group`
does, or a list of groups, a row for `layout.compose`; curves are [(condition, label, style)], as `panels.curves_by`.
"""

from functools import partial

import numpy as np
import xarray as xr
from pydantic import PositiveInt

from carryover.analysis.relu import AUXILIARY_FEATURES
from carryover.analysis.run_tables import evenly_spaced
from carryover.config import plugins
from carryover.config.parameters import parameter
from carryover.figures.drawing import layout, panels
from carryover.figures.titled import Titled
from carryover.runs import select_runs

ONE = {"color": "0.3", "linewidth": 1, "linestyle": ":"}
ALIGNMENT, SHARES, UP = "alignment with the teacher", (0, 1.03), (0, None)
MAIN_FEATURES, TASK = 1, "main task of 1 unit"  # of the nested experiment


def group_by_cosines(data, most=None):
    """Curves by lists of cosines between the main and the auxiliary units, from new to shared features."""
    lists = evenly_spaced(panels.values(data, "unit_correlations"), most)
    return panels.curves_by(data, "unit_correlations", unit_correlations=lists, label=panels.cosines_in_words)


def features_to_learn(cosines, protocol):
    """How many distinct features a network of the protocol has to know at the end; `cosines` is a text, '1 1 0', the
    cosine of each main unit with an auxiliary one, which at 1 is the same feature."""
    cosines = panels.cosines(cosines)
    new = [cosine for cosine in cosines if cosine != 1]
    return AUXILIARY_FEATURES + len(new) if protocol == "multi_task" else len(cosines)


def _regimes(data):
    """{initial scale: its name}: the smallest is the richest regime, the largest the laziest."""
    named = {scale: f"initial scale {scale:g}" for scale in panels.values(data, "initial_scale")}
    if len(named) > 1:
        rich, *_, lazy = named
        named |= {rich: f"rich ({named[rich]})", lazy: f"lazy ({named[lazy]})"}
    return named


def _by_regime(runs):
    """Curves of networks from scratch, by initial scale: in one colour, as all of single-task learning."""
    names = _regimes(runs)
    return panels.curves_by(runs, "protocol", "initial_scale", label=lambda _, scale: names[scale])


def _by_cosines(runs, quantity, title, label, ylim):
    """A group of panels of a quantity by protocol, for some of the lists of cosines."""
    columns = {f"cosines {name}": select_runs(runs, **condition) for condition, name, _ in group_by_cosines(runs, 4)}
    return layout.curves(title, columns, quantity, "samples", "protocol", label, ylim=ylim)


def _to_learn(axline, runs, limit):
    """A dotted line (`axline` across or up a panel) at the number of features to learn, if the axis goes so far."""
    if (number := runs["main_features"].values[0]) <= limit:
        axline(number, **ONE, label="features to learn")


def _clusters_axis(ax, part):
    """Numbers of clusters by doublings, against inertias from 0."""
    layout.name_ticks(ax, [count for count in part["clusters"].values if count & (count - 1) == 0], 2)
    ax.set(xlabel="clusters K", ylim=SHARES)


class Dimensionality(Titled):
    nested_samples: tuple[PositiveInt, ...] = parameter((), "main-task samples of panels over rescalings; empty: all")


class Clusters(Dimensionality):
    samples: PositiveInt = parameter(64, "main-task samples of the inertias by overlap")
    unit_correlations: tuple[str, ...] = parameter((), "lists of cosines by which they are shown; empty for all")


@plugins.figure(data=["regimes", "overlap", "nested"])
def clusters(data, p: Clusters):
    """How few features ReLU networks make use of, and whether they are the teacher's (Fig. 6).

    Panels a–g. Roles: `regimes` (a, b), `overlap` (c–e) and `nested` (f, g), each a `clusters` dataset.
    """
    nested = select_runs(data["nested"], main_features=MAIN_FEATURES)
    rows = [_of_regimes(data["regimes"]), _of_overlap(data["overlap"], p), _nested_curves(nested, p)]
    return layout.compose(rows, p.title, panels.describe_spread(data))


def _of_regimes(runs):
    """The groups of panels a and b, of single-task networks in a `clusters` dataset: inertia against the number of
    clusters, a panel per size of the teacher and initial scale; and alignment, of the smallest teacher."""
    single = select_runs(runs, protocol="single_task")
    names, sizes = _regimes(single), panels.curves_by(single, "samples", label="n = {:g}".format)
    cells = panels.curves_by(single, "main_features", "initial_scale",
                             label=lambda k, scale: f"teacher of {k} units\n{names[scale]}")  # fmt: skip
    columns = {title: select_runs(single, **cell) for cell, title, _ in cells}

    def inertias(ax, part):
        panels.curves(ax, part, "inertia", "clusters", sizes)
        _to_learn(ax.axvline, part, part["clusters"].max())
        _clusters_axis(ax, part)

    least = panels.values(single, "main_features")[0]
    sparsest = {f"teacher of {least} units": select_runs(single, main_features=least)}
    return [
        layout.group("a  Inertia, STL", columns, inertias, "inertia"),
        layout.curves("b  Alignment, STL", sparsest, "alignment", "samples", _by_regime(single), ALIGNMENT, ylim=SHARES,
                      width=1.5),
    ]  # fmt: skip


def _of_overlap(runs, p):
    """Panels c–e; on each curve of c and d a circle where there are as many clusters as features to learn."""
    if p.unit_correlations:
        runs = xr.concat([select_runs(runs, unit_correlations=text) for text in p.unit_correlations], dim="run")
    curves = group_by_cosines(runs)
    for condition, _, style in curves:
        # Units that are auxiliary ones and those that nearly are look the same to clusters: both have to be seen.
        cosines = {*panels.cosines(condition["unit_correlations"])}
        if cosines == {1.0}:
            style.update(linestyle="--", zorder=3)
        elif not cosines <= {0.0, 1.0}:
            style.update(linewidth=4)
    columns = {panels.name(runs, "protocol", protocol): select_runs(runs, protocol=protocol, samples=p.samples)
               for protocol in ("finetuning", "multi_task")}  # fmt: skip

    def inertias(ax, part):
        """Draw the inertia of the runs `part`, of one protocol, against the number of clusters; circle its median where
        this number is that of the features to learn."""
        panels.curves(ax, part, "inertia", "clusters", curves)
        for text in panels.values(part, "unit_correlations"):  # a list of cosines, '1 1 0'
            features = features_to_learn(text, part["protocol"].values[0])
            if features in part["clusters"].values:
                median = select_runs(part, unit_correlations=text)["inertia"].sel(clusters=features).median()
                ax.plot(features, median, "o", color="0.2", mfc="none", ms=8, zorder=4, label="features to learn")
        _clusters_axis(ax, part)

    title = f"c, d  Inertia by cosines of main with auxiliary units, n = {p.samples}"
    return [
        layout.group(title, columns, inertias, "inertia", width=2.6),
        _by_cosines(runs, "alignment", "e  Alignment", ALIGNMENT, SHARES),
    ]


def _nested_curves(runs, p):
    """The groups of panels f and g: inertia and alignment against the factor of rescaling. Multi-task networks, which
    are not rescaled, are level lines."""
    most = panels.values(runs, "overlap")[-1]
    by_overlap = panels.curves_by(runs, "overlap", "protocol", protocol=("finetuning", "multi_task"))
    title = f"f  Inertia of one cluster: PT+FT, MTL and STL, {TASK}, {panels.name(runs, 'overlap', most)}"
    one = panels.columns(select_runs(runs, overlap=most).sel(clusters=1), chosen=p.nested_samples)
    both = panels.columns(runs, chosen=p.nested_samples)
    return [
        layout.curves(title, one, "inertia", "rescale", "protocol", "inertia at K = 1", yscale="log"),
        layout.curves(f"g  Alignment, PT+FT and MTL, {TASK}", both, "alignment", "rescale", by_overlap, ALIGNMENT,
                      ylim=SHARES),
    ]  # fmt: skip


@plugins.figure(data=["regimes", "overlap", "nested"])
def dimensionality(data, p: Dimensionality):
    """How many dimensions ReLU networks respond in, before and after finetuning (Fig. 8).

    Panels a–c. Roles, each a `dimensionality` dataset: `regimes` (a), `nested` (b, c), and `overlap`, drawn next to a,
    for what Fig. 8 does not show: main tasks of new and of shared features.
    """
    pr, ratio = "participation_ratio", "participation ratio"
    grey = {"color": "0.4", "linestyle": "--"}
    single = select_runs(data["regimes"], protocol="single_task")
    tuned = select_runs(data["nested"], protocol="finetuning", main_features=MAIN_FEATURES)
    sizes, overlaps = p.nested_samples or panels.values(tuned, "samples"), panels.values(tuned, "overlap")
    most, shared = overlaps[-1], panels.colors("overlap", overlaps)[-1]
    by_end = [({"samples": n}, f"n = {n:g}", {"color": shared, "linestyle": line})
              for n, line in zip(evenly_spaced(sorted(sizes), 2), (":", "-"), strict=False)]  # fmt: skip

    def by_regime(ax, runs):
        """Panel a."""
        panels.curves(ax, runs, pr, "samples", _by_regime(single))
        _to_learn(ax.axhline, runs, runs[pr].max())

    def by_overlap(ax, runs):
        """Panel b."""
        panels.level(ax, runs, f"{pr}_start", "before finetuning", **grey)
        panels.curves(ax, runs, pr, "rescale", "overlap")
        _to_learn(ax.axhline, runs, runs[pr].max())

    def before_and_after(ax, compared):
        """Panel c, of the fewest and the most samples: others lie between."""
        panels.level(ax, compared, f"{pr}_start", "before finetuning: PR", **grey)
        panels.curves(ax, compared, "compared", "rescale", by_end)

    subset = select_runs(tuned, overlap=most)
    after = {"after: PR": subset.assign(compared=subset[pr]), "shared: ENSD": subset.assign(compared=subset["ensd"])}
    by_teacher = panels.columns(single, "main_features", "teacher of {} units")
    by_samples = panels.columns(tuned, chosen=sizes)
    title = "After training, by cosines of main with auxiliary units"
    rows = [
        [layout.group("a  After training, STL", by_teacher, by_regime, ratio, "samples", UP),
         _by_cosines(data["overlap"], pr, title, ratio, UP)],
        [layout.group(f"b  After finetuning, {TASK}", by_samples, by_overlap, ratio, "rescale", UP),
         layout.group(f"c  Finetuning, {TASK}, {panels.name(tuned, 'overlap', most)}", after, before_and_after,
                      "dimensions", "rescale", UP)],
    ]  # fmt: skip
    return layout.compose(rows, p.title, panels.describe_spread(data))


@plugins.figure(data=["clusters", "dimensionality", "paired", "paired_dimensionality", "tuned", "tuned_paired"])
def random_signs(data, p: Titled):
    """Clusters and dimensions of networks whose teachers' units have random signs, by the sum of these signs. Teachers
    of other experiments have paired signs.

    Roles: `clusters` and `dimensionality` of networks from scratch and teachers with random signs, `paired` and
    `paired_dimensionality` of those with paired ones; `tuned` and `tuned_paired`, clusters of PT+FT and MTL.
    """
    rich = {
        role: select_runs(runs, protocol="single_task", main_features=runs["main_features"].values.min(),
                          initial_scale=runs["initial_scale"].values.min())
        for role, runs in data.items() if not role.startswith("tuned")
    }  # fmt: skip
    grey = {"color": "0.3", "linestyle": "--"}

    def panel(ax, runs, quantity, along, paired):
        """Draw `runs`, of random signs, in a colour for each sum of signs, and, in grey, the runs `paired`, of paired
        signs, at the same numbers of samples and clusters."""
        if along == "samples":
            paired = paired.isel(run=np.isin(paired["samples"], runs["samples"]))
        else:
            paired = select_runs(paired, samples=runs["samples"].values[0])
        panels.curves(ax, runs, quantity, along, "sign_sum")
        if along == "clusters":
            paired = paired.sel(clusters=runs["clusters"])
            _clusters_axis(ax, runs)
        panels.draw_spread(ax, paired, quantity, along, "paired signs", **grey)

    inertias = partial(panel, quantity="inertia", along="clusters", paired=rich["paired"])
    ratios = partial(panel, quantity="participation_ratio", along="samples", paired=rich["paired_dimensionality"])
    row = [
        layout.group("a  Inertia, STL (Fig. 6a)", panels.columns(rich["clusters"]), inertias, "inertia"),
        layout.group("b  Dimensions (Fig. 8a)", {"STL": rich["dimensionality"]}, ratios, "participation ratio",
                     "samples", UP, width=1.5),
    ]  # fmt: skip

    def inertias_of_tuned(ax, runs):
        same = {name: runs[name].values[0] for name in ("protocol", "unit_correlations")}
        panel(ax, runs, "inertia", "clusters", select_runs(data["tuned_paired"], **same))

    # Of the sums that a has, so that their colours are the same.
    shown = data["tuned"].isel(run=np.isin(data["tuned"]["sign_sum"], rich["clusters"]["sign_sum"]))
    tuned = {
        f"{panels.name(shown, 'protocol', protocol)}, {units} units":
        select_runs(shown, protocol=protocol, unit_correlations=cosines)
        for protocol in ("finetuning", "multi_task")
        for cosines, units in zip(panels.values(shown, "unit_correlations"), ("new", "shared"), strict=True)
    }  # fmt: skip
    samples = shown["samples"].values[0]
    below = [layout.group(f"c  Inertia at n = {samples:g} (Figs. 6c and d)", tuned, inertias_of_tuned, "inertia")]
    known = {"random": rich["clusters"], "paired": rich["paired"], "PT+FT and MTL": shown}
    return layout.compose([row, below], p.title, panels.describe_spread(known))


@plugins.figure(data=["norms", "displacement", "regimes"])
def relu_norms(data, p: Titled):
    """Norms of ReLU networks relative to those of their teachers, the counterpart of Fig. 5a (diagonal networks).

    Panels a–d. Roles: `norms` and `displacement` of an overlap experiment; `regimes`, norms of single-task learning, of
    which the richest regime is drawn.
    """
    norms, displacement, regimes = data["norms"], data["displacement"], data["regimes"]
    richest = select_runs(regimes, initial_scale=panels.values(regimes, "initial_scale")[0])
    norm_panels = {
        "a  STL, F₁": (richest, "single_task", "f1_norm"),
        "b  MTL, F₁,₂ of both tasks": (norms, "multi_task", "f12_norm"),
        "c  PT+FT, penalty R̃": (displacement, "finetuning", "penalty"),
        "d  PT+FT, F₁": (norms, "finetuning", "f1_norm"),
    }
    columns = {title: panels.relative(select_runs(runs, protocol=protocol), norm).rename({norm: "ratio"})
               for title, (runs, protocol, norm) in norm_panels.items()}  # fmt: skip
    teachers = panels.curves_by(select_runs(richest, protocol="single_task"), "protocol", "main_features",
                                label=lambda _, k: f"STL, teacher of {k:g} units")  # fmt: skip
    cosines = [(condition, f"cosines {name}", style) for condition, name, style in group_by_cosines(norms, 4)]

    def panel(ax, runs):
        single_task = runs["protocol"].values[0] == "single_task"
        panels.curves(ax, runs, "ratio", "samples", teachers if single_task else cosines)

    row = [layout.group("", columns, panel, "relative to ground truth", "samples", UP, truth=1)]
    return layout.compose([row], p.title, panels.describe_spread(data))
