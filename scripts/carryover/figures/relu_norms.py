"""Norms of what ReLU networks learn, relative to their teachers': what Fig. 5a shows of diagonal ones."""

from carryover.figures.drawing import layout, panels, relu
from carryover.runs import where

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
    regimes, norms, tuned = (shown[role] for role in DRAWN)
    rich = where(regimes, initial_scale=panels.values(regimes, "initial_scale")[0])
    finetuned = where(norms, protocol="finetuning")
    related = {text: f"cosines {name}" for text, name in relu.some(relu.related(norms)).items()}

    def ratios(figure):
        axes = figure.subplots(1, 4, sharey=True)
        for k, style in zip(panels.values(rich, "main_features"), ("-", "--", ":"), strict=False):
            part, color = panels.relative(where(rich, main_features=k), "f1_norm"), panels.color("single_task")
            panels.spread(axes[0], part, "f1_norm", "samples", f"STL, teacher of {k:g} units", color=color, ls=style)
        by_cosines = (where(norms, protocol="multi_task"), "f12_norm"), (tuned, "penalty"), (finetuned, "f1_norm")
        for ax, (runs, norm) in zip(axes[1:], by_cosines, strict=True):
            panels.curves(ax, panels.relative(runs, norm), norm, "samples", "unit_correlations", related)
        titles = "a  STL, F₁", "b  MTL, F₁,₂ of both tasks", "c  PT+FT, penalty R̃", "d  PT+FT, F₁"
        for ax, title, runs in zip(axes, titles, (rich, norms, tuned, finetuned), strict=True):
            ax.axhline(1, color="0.3", linewidth=1, linestyle=":", label="ground truth")
            ax.set_title(title)
            relu.share_axes([ax], runs, "samples", "relative to ground truth" if ax is axes[0] else "")

    return layout.compose([[(4, ratios)]], p.title, relu.spread_of(shown))
