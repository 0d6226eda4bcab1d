"""Pairs of image tasks as they are trained, beside the limit of gradient descent (E1)."""

from carryover.claims.support import checks
from carryover.errors import UserError
from carryover.runs import coordinates

NEAR = 0.005  # difference in the share of misclassified images that counts as none


@checks.group(checks.own("exact and simulated"), "allowed less largest difference in the share of misclassified images")
def check(data, p):
    """Role: `risk` of the family image_pairs, solved and by descent. Of descent those runs count that converged."""
    table = data["risk"].to_dataframe().reset_index(drop=True)
    keys = [name for name in coordinates(data["risk"]) if name != "solver"]
    solved, trained = (table[table["solver"] == solver] for solver in ("exact", "descent"))
    both = trained[trained["converged"] == 1].merge(solved, on=keys, suffixes=("", "_exact"))
    if both.empty:
        raise UserError("this claim needs runs of the solver descent that converged, of the role risk, and exact ones.")
    off = (both["risk_final"] - both["risk_final_exact"]).abs().groupby(both["seed"]).max()
    return [("descent", "Gradient descent on pairs of digits ends at the error of its limit", NEAR - off, 0.0)]
