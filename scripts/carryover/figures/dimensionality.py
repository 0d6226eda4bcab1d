"""How many dimensions ReLU networks respond in, before and after finetuning (Fig. 8 of feature reuse)."""

from carryover.figures.drawing import layout, panels, relu
from carryover.runs import where

AFTER, RATIO = "participation_ratio", "participation ratio"
BEFORE = {"color": "0.4", "linestyle": "--"}
MAIN_FEATURES = 1  # teacher units of the nested task that is shown


def draw(data, p):
    """Panels a–c. Roles, each a `dimensionality` dataset: `regimes` (a), `nested` (b, c), and `overlap`, drawn beside
    a, for what Fig. 8 does not show: main tasks of new and of shared features."""
    regimes, overlap, nested = relu.trained(data, "regimes", "overlap", "nested")
    single = where(regimes, protocol="single_task")
    tuned = where(nested, protocol="finetuning", main_features=MAIN_FEATURES)
    sizes, overlaps = p.nested_samples or panels.values(tuned, "samples"), relu.overlaps(tuned)
    most, shared = [*overlaps][-1], panels.colors("overlap", list(overlaps))[-1]
    task = relu.task(tuned)

    def by_regime(ax, runs):
        """Panel a."""
        relu.by_regime(ax, runs, AFTER)
        relu.to_learn(ax.axhline, runs["main_features"].values[0], runs[AFTER].max())

    def by_overlap(ax, runs):
        """Panel b."""
        panels.level(ax, runs, f"{AFTER}_start", "before finetuning", **BEFORE)
        panels.curves(ax, runs, AFTER, "rescale", "overlap", overlaps)
        relu.to_learn(ax.axhline, MAIN_FEATURES, runs[AFTER].max())

    def before_and_after(ax, compared):
        """Panel c, of the fewest and the most samples: others lie between."""
        panels.level(ax, compared, f"{AFTER}_start", "before finetuning: PR", **BEFORE)
        for n, style in zip(panels.some(sorted(sizes), 2), (":", "-"), strict=False):
            part = where(compared, samples=n)
            panels.spread(ax, part, "compared", "rescale", f"n = {n:g}", color=shared, linestyle=style)

    subset = where(tuned, overlap=most)
    after = {title: subset.assign(compared=subset[quantity])
             for title, quantity in (("after: PR", AFTER), ("shared: ENSD", "ensd"))}  # fmt: skip
    by_teacher = panels.by_value(single, "main_features", "teacher of {} units")
    by_samples = panels.by_samples(tuned, sizes)
    title = "After training, by cosines of main with auxiliary units"
    rows = [
        [layout.group("a  After training, STL", by_teacher, by_regime, RATIO, "samples"),
         relu.by_cosines(overlap, AFTER, title, RATIO)],
        [layout.group(f"b  After finetuning, {task}", by_samples, by_overlap, RATIO, "rescale"),
         layout.group(f"c  Finetuning, {task}, {panels.name(tuned, 'overlap', most)}", after, before_and_after,
                      "dimensions", "rescale")],
    ]  # fmt: skip
    return layout.compose(rows, p.title, relu.spread_in_words(data))
