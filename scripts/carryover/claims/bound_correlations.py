"""Which bound predicts best how well finetuning does on pairs of tasks ("Finetuning with linear teachers", Table 1): R²
over pairs of the error with each bound."""

from functools import partial

from pydantic import NonNegativeFloat

from carryover.analysis.image_pairs import BOUNDS, in_words, leave_one_class_out, pair_table
from carryover.claims.support.checks import Check, checks
from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.statistics import jackknife


class BoundCorrelations(Model):
    images: str = parameter("MNIST", "name of the images, for sentences")
    constant: NonNegativeFloat = parameter(
        1.0, "c of eq 3, which the paper leaves open; 0 for the limit of small ones")  # fmt: skip


@plugins.check(data=["bounds"])
def bound_correlations(data, p: BoundCorrelations):
    """{name: `Check`}. Role: `bounds`, the measure of an experiment of the family image_pairs, runs over `run`.

    Statistics are R² over pairs of tasks and differences of R²: means over numbers of samples and repeats, for each
    estimator. Intervals leave out one class of images at a time, since the paper's repeats use the same pairs and do
    not show how other pairs would differ.
    """
    table = pair_table(data["bounds"], p.constant)
    r_squared = leave_one_class_out(table)
    results: dict = {}
    for estimator in table["estimator"].values:
        # (left_out, bound): R² of all pairs, then without those of each class, as the jackknife takes them.
        of_estimator = r_squared.sel(estimator=estimator).mean("samples", skipna=False)
        distance, benign, covariance = (of_estimator.sel(bound=bound) for bound in BOUNDS)
        values = {
            f"strong_{estimator}": Check(covariance.values, partial(jackknife.estimate, scale=jackknife.R_SQUARED)),
            f"above_benign_{estimator}": (covariance - benign).values,
            f"above_distance_{estimator}": (covariance - distance).values,
        }
        learned = in_words(estimator)
        results |= checks(values, jackknife.estimate, pairs=table.sizes["pair"], images=p.images, learned=learned)
    return results
