"""The published table in our coordinates, and z-scores worked out by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from carryover.claims.support import published_risks

TABLE = Path(__file__).resolve().parents[2] / "resources/published/feature-reuse-risk.csv"
CONDITION = {"protocol": "finetuning", "main_features": 40, "overlap": 0.5, "rescale": 1.0}


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(TABLE)


def test_moments_are_those_of_sampled_log_normals():
    for mu, sigma in ((-3.0, 0.1), (0.5, 0.8), (2.0, 1.1)):
        logs = mu + sigma * np.random.default_rng(0).standard_normal(400_000)
        found = published_risks.log_moments(np.exp(logs).mean(), np.exp(logs).std())
        np.testing.assert_allclose(found, (mu, sigma), atol=0.02)


def test_cells_have_the_coordinates_of_their_rows(table):
    def coordinates(row):
        if row.experiment == "diagonal_overlap":
            return "overlap", 40, row.overlap / 40, 1.0
        rescale = 1.0 if np.isnan(row.w_scaling) else row.w_scaling
        return "nested", row.active_dims, {"yes": 1.0, "no": 0.0}[row.nested], rescale

    rows = table[table["experiment"].str.startswith("diagonal")].itertuples()
    cells = published_risks.cells(table, "diagonal").itertuples()
    expected = {(published_risks.PROTOCOLS[r.setup], r.n_train, r.risk_mean, r.risk_std, *coordinates(r)) for r in rows}
    found = {
        (c.protocol, c.samples, c.risk_mean, c.risk_std, c.experiment, c.main_features, c.overlap, c.rescale)
        for c in cells
    }
    assert found == expected


def runs(**told):
    """A DataFrame of runs, one row per (samples, seed, risk)."""
    cells = told.pop("cells")
    rows = [{**CONDITION, **told, "samples": n, "seed": s, "risk_final": r} for n, s, r in cells]
    return pd.DataFrame(rows)


def cells(*rows):
    return pd.DataFrame([{"experiment": "overlap", **CONDITION, "samples": n, "risk_mean": m, "risk_std": s, "seeds": 6}
                         for n, m, s in rows])  # fmt: skip


def test_z_is_the_difference_of_mean_logs_in_standard_errors():
    theirs = cells((16, 0.3, 0.15))
    ours = runs(cells=[(16, 0, 0.2), (16, 1, 0.4), (16, 2, 0.3)])
    (row,) = published_risks.z_scores(ours, theirs, "risk_final").itertuples()
    logs = np.log([0.2, 0.4, 0.3])
    variance = np.log(1 + 0.25)  # (.15/.3)²
    mu = np.log(0.3) - variance / 2
    assert row.z == pytest.approx((logs.mean() - mu) / np.sqrt(variance / 6 + logs.var(ddof=1) / 3), rel=1e-12)
    assert row.ours == pytest.approx((0.2 * 0.4 * 0.3) ** (1 / 3), rel=1e-12)
    assert row.published == pytest.approx(np.exp(mu), rel=1e-12)
    assert row.risk_mean == 0.3


@pytest.mark.parametrize(
    ("row", "cell"),
    [
        ({"experiment": "relu_overlap", "correlation": "[1.0, 1.0, 0.9, 0.9, 0.0, 0.0]"},
         {"main_features": 6, "unit_correlations": "1 1 0.9 0.9 0 0", "magnitude": 1.0, "rescale": 1.0}),
        ({"experiment": "relu_nested", "corr": 1.0, "n_units": 2.0},
         {"main_features": 2, "unit_correlations": "1 1", "magnitude": 1.0, "rescale": 1.0}),
        ({"experiment": "relu_nested_rescale", "corr": 0.0, "n_units": 3.0, "weight_scaling": 10.0},
         {"main_features": 3, "unit_correlations": "0 0 0", "magnitude": 1.0, "rescale": 10.0}),
        ({"experiment": "relu_correlation_magnitude", "correlation": "0.95", "magnitude": 0.05},
         {"main_features": 6, "unit_correlations": " ".join(["0.95"] * 6), "magnitude": 0.05, "rescale": 1.0}),
    ],
)  # fmt: skip
def test_relu_cells_are_spelled_as_the_family_spells_its_runs(table, row, cell):
    where = np.all([table[name] == value for name, value in row.items()], axis=0)
    values = set(table[where]["risk_mean"])
    found = published_risks.cells(table, "relu").set_index("risk_mean").loc[sorted(values)]
    assert len(values) >= 3
    for name, value in cell.items():
        assert set(found[name]) == {value}


def measured(table, factors, experiment="nested", **only):
    """Runs of two seeds at cells of the published table whose protocol and samples are chosen: {seed: (final, best)}
    are factors on the published mean."""
    chosen = table[(table["experiment"] == experiment) & np.all([table[k] == v for k, v in only.items()], axis=0)]
    rows = [(row, seed) for _, row in chosen.iterrows() for seed in factors]
    risks = {
        name: ("run", np.array([row["risk_mean"] * factors[seed][place] for row, seed in rows]))
        for place, name in enumerate(published_risks.RISKS)
    }
    cell = published_risks.CELLS["diagonal"]
    columns = {name: ("run", np.array([row[name] for row, _ in rows])) for name in cell}
    return xr.Dataset(risks, {**columns, "seed": ("run", np.array([seed for _, seed in rows]))})


def test_last_and_smallest_risks_are_compared_on_the_same_cells(table):
    theirs = published_risks.cells(table, "diagonal")
    runs = measured(theirs, {0: (8.0, 0.9), 1: (9.0, 1.1)}, protocol="single_task", samples=16)
    fitted = measured(theirs, {0: (0.9, np.nan), 1: (1.1, np.nan)}, protocol="single_task_probe", samples=16)
    both = published_risks.both(
        {"published": table, "nested": xr.concat([runs, fitted], "run")}, "diagonal", 1e-8
    ).set_index("protocol")
    assert (len(both.loc["single_task"]), len(both.loc["single_task_probe"])) == (40, 10)
    trained, alone = both.loc["single_task"], both.loc["single_task_probe"]
    assert published_risks.agreeing(trained["z_best"]).all()
    assert not published_risks.agreeing(trained["z_final"]).any()
    assert published_risks.agreeing(alone["z_final"]).all()
    assert alone[["ours_best", "z_best"]].isna().all().all()
    np.testing.assert_allclose(trained["ours_final"] / trained["ours_best"], np.sqrt(72 / 0.99), rtol=1e-12)
