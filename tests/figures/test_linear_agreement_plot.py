"""What the figure of agreement shows: how far simulated deep linear networks end from the limit of the same data."""

import numpy as np

from carryover.measures import coefficients
from toy.deep_linear_networks import drawn, line, measured


def test_simulated_networks_are_held_against_the_limit_of_the_same_data():
    axes = drawn("linear_agreement").axes
    data = measured("agreement", measure=coefficients)
    beta = {}
    for r in range(data.sizes["run"]):
        run = data.isel(run=r)
        key = tuple(str(run[name].values) for name in ("protocol", "solver", "samples", "seed"))
        beta[key] = run["coefficients"].values
    runs = measured("agreement").to_dataframe()
    for column, (protocol, title) in enumerate(
        {"single_task": "STL", "finetuning": "PT+FT", "linear_transfer": "linear transfer"}.items()
    ):
        assert axes[column].get_title() == title
        for solver, label in (("descent", "gradient descent"), ("balanced", "flow of balanced networks")):
            if (protocol, solver) == ("linear_transfer", "balanced"):
                continue
            expected = []
            for n in ("3", "12"):
                pairs = [(beta[protocol, solver, n, s], beta[protocol, "exact", n, s]) for s in "012"]
                expected.append(np.median([np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in pairs]))
            x, y = line(axes[column], label)
            np.testing.assert_allclose(x, [0.5, 2.0])
            np.testing.assert_allclose(y, expected, rtol=1e-5)
        _, steps = line(axes[3], f"steps, {title}")
        trained = runs[(runs["protocol"] == protocol) & (runs["solver"] == "descent")]
        np.testing.assert_allclose(steps, trained.groupby("gamma")["evaluations"].median())
    for ax, protocol in zip(axes[4:], ("finetuning", "linear_transfer"), strict=True):
        for solver, label in (("exact", "exact limit"), ("descent", "gradient descent")):
            of = {name: runs[(runs["protocol"] == name) & (runs["solver"] == solver)].set_index(["gamma", "seed"])
                  for name in ("single_task", protocol)}  # fmt: skip
            gain = of["single_task"]["risk_final"] - of[protocol]["risk_final"]
            np.testing.assert_allclose(line(ax, label)[1], gain.groupby("gamma").median())
