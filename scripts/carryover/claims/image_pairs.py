"""Trained pairs of image tasks end at the limit of gradient descent (E1)."""

from carryover.claims.support.checks import checks
from carryover.runs import coordinates

NEAR = 0.005  # difference in the share of misclassified images that counts as none


def check(data, p):
    """Role: `risk` of the family image_pairs, solved and by descent. Of descent those runs count that converged."""
    table = data["risk"].to_dataframe().reset_index(drop=True)
    keys = [name for name in coordinates(data["risk"]) if name != "solver"]
    solved, trained = (table[table["solver"] == solver] for solver in ("exact", "descent"))
    both = trained[trained["converged"] == 1].merge(solved, on=keys, suffixes=("", "_exact"))
    off = (both["risk_final"] - both["risk_final_exact"]).abs().groupby(both["seed"]).max()
    return checks({"descent": NEAR - off})
