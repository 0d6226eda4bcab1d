"""Norms of what ReLU networks learn, relative to their teachers': what Fig. 5a shows of diagonal ones."""

from functools import partial

from carryover.figures.drawing import layout, panels, relu

DRAWN = {
    "regimes": ("f1_norm", "samples", "main_features", "initial_scale"),
    "norms": ("f1_norm", "f12_norm", "samples", "unit_correlations"),
    "displacement": ("penalty", "samples", "unit_correlations"),
}


def draw(data, p):
    """Panels a–d. Roles: `norms` and `displacement` of an overlap experiment, `regimes`: norms of single-task learning.

    Raises UserError where one of them lacks what is drawn.
    """
    shown = relu.trained(data, DRAWN)
    return layout.compose([[(4, partial(_norms, shown))]], p.title, relu.spread_of(shown))


def _norms(shown, figure):
    regimes, norms, tuned = (shown[role] for role in DRAWN)
    axes = figure.subplots(1, 4, sharey=True)
    rich = panels.where(regimes, initial_scale=panels.values(regimes, "initial_scale")[0])
    teachers = {k: f"teacher of {k:g} units" for k in panels.values(rich, "main_features")}
    for (k, label), style in zip(teachers.items(), ("-", "--", ":"), strict=False):
        part = panels.relative(panels.where(rich, main_features=k), "f1_norm")
        panels.spread(axes[0], part, "f1_norm", "samples", f"STL, {label}", color=panels.color("single_task"), ls=style)
    related = {text: f"cosines {name}" for text, name in relu.some(relu.related(norms)).items()}
    finetuned = panels.where(norms, protocol="finetuning")
    for ax, runs, norm in (
        (axes[1], panels.where(norms, protocol="multi_task"), "f12_norm"),
        (axes[2], tuned, "penalty"),
        (axes[3], finetuned, "f1_norm"),
    ):
        panels.curves(ax, panels.relative(runs, norm), norm, "samples", "unit_correlations", related)
    titles = "a  STL, F₁", "b  MTL, F₁,₂ of both tasks", "c  PT+FT, penalty R̃", "d  PT+FT, F₁"
    for ax, title, runs in zip(axes, titles, (rich, norms, tuned, finetuned), strict=True):
        ax.axhline(1, color="0.3", linewidth=1, linestyle=":", label="ground truth")
        ax.set_title(title)
        relu.against_samples([ax], runs, "relative to ground truth")
    for ax in axes[1:]:
        ax.set_ylabel("")
