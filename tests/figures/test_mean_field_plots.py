"""What the figures of mean-field networks show: means over seeds and their intervals."""

import numpy as np
from scipy import stats

from carryover.analysis.mean_field import gains, leave_one_out_choice
from toy.drawn import drawn
from toy.mean_field_networks import roles


def test_anchors_are_compared_by_means_with_their_intervals():
    gain, mean, _ = drawn("mean_field_anchor", roles("mean_field_anchor")).axes
    runs = gains(roles("mean_field_anchor")["risk"], "zero")
    tables = runs.pivot_table("transferability", "seed", ["anchor", "samples"])
    shown = {
        "a: λ = 0, rich": tables[0.0],
        "a: best λ between them": leave_one_out_choice(tables.drop(columns=[0.0, np.inf], level="anchor")),
        "a: λ = ∞, initial features": tables[np.inf],
    }
    for label, table in shown.items():
        (points,) = [part for part in gain.containers if part.get_label() == label]
        x, y = np.asarray(points[0].get_data(), float)
        np.testing.assert_allclose(x, table.columns, rtol=0.05)  # bars stand a little apart
        np.testing.assert_allclose(y, table.mean())
        ends = np.array(points[2][0].get_segments())[:, :, 1].T
        expected = [stats.ttest_1samp(table[n], 0).confidence_interval(0.95) for n in table]
        np.testing.assert_allclose(ends, np.transpose(expected))
    (points,) = [part for part in mean.containers if part.get_label() == "b: gradient flow from 0"]
    np.testing.assert_allclose(points[0].get_ydata(), tables.mean().groupby("anchor").mean())
