"""Norms of what ReLU networks learn, relative to their teachers': what Fig. 5a shows of diagonal ones."""

from carryover.figures.drawing import layout, panels, relu
from carryover.runs import where

# {title of a panel: (role, protocol, norm)}
PANELS = {
    "a  STL, F₁": ("regimes", "single_task", "f1_norm"),
    "b  MTL, F₁,₂ of both tasks": ("norms", "multi_task", "f12_norm"),
    "c  PT+FT, penalty R̃": ("displacement", "finetuning", "penalty"),
    "d  PT+FT, F₁": ("norms", "finetuning", "f1_norm"),
}


def draw(data, p):
    """Panels a–d. Roles: `norms` and `displacement` of an overlap experiment, `regimes`: norms of single-task learning,
    of which the richest regime is drawn."""
    regimes = data["regimes"]
    shown = {**data, "regimes": where(regimes, initial_scale=panels.values(regimes, "initial_scale")[0])}
    columns = {title: panels.relative(where(shown[role], protocol=protocol), norm).rename({norm: "ratio"})
               for title, (role, protocol, norm) in PANELS.items()}  # fmt: skip
    related = {text: f"cosines {name}" for text, name in relu.related(data["norms"], 4).items()}

    def panel(ax, runs):
        if runs["protocol"].values[0] == "single_task":
            for k, style in zip(panels.values(runs, "main_features"), ("-", "--", ":"), strict=False):
                part, label = where(runs, main_features=k), f"STL, teacher of {k:g} units"
                panels.spread(ax, part, "ratio", "samples", label, color=panels.COLORS["single_task"], ls=style)
        else:
            panels.curves(ax, runs, "ratio", "samples", "unit_correlations", related)
        ax.axhline(1, **relu.ONE, label="ground truth")

    row = [layout.group("", columns, panel, "relative to ground truth", "samples")]
    return layout.compose([row], p.title, relu.spread_in_words(data))
