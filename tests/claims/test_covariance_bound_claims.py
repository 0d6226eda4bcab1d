"""Claims about the bound by the covariance hold or fail as its instances and its terms say."""

import numpy as np
import pytest
import xarray as xr

from carryover.claims import covariance_bound
from carryover.curves.covariance_bound import Parameters, compute
from carryover.provenance import store

P = covariance_bound.Parameters()
INSTANCES = 200


def made(violations=0.0, estimation=0.0, top=-1.5, bottom=-0.5):
    """A curve of instances of which shares of the tested half violate the bounds, and terms that fall as powers of n.

    All that were fitted lie above the constants, and few samples have another slope: no claim is about them.
    """
    half, place = np.repeat([0, 1], INSTANCES), np.tile(np.arange(INSTANCES), 2) / INSTANCES
    needed = {
        name: ("instance", np.where((half == 0) | (place < share), 2.0, 0.5))
        for name, share in (("needed", violations), ("estimation_needed", estimation))
    }
    samples = np.array([10, 100, 1000, 2000, 4000, 8000])
    terms = {
        name: ("samples", samples.astype(float) ** power * np.where(samples < 1000, 9, 1))
        for name, power in (("top_term", top), ("bottom_term", bottom))
    }
    constants = {"c": 1.0, "c_estimation": 1.0}
    return xr.Dataset({**needed, **terms, **constants}, {"half": ("instance", half), "samples": samples})


def verdicts(curve):
    return covariance_bound.check({"curve": curve}, P)["verdict"].to_series().to_dict()


@pytest.mark.parametrize("drawn", [False, True])
def test_every_claim_holds_where_the_theorem_does(drawn, tmp_path):
    curve = compute(Parameters(instances=2 * INSTANCES)) if drawn else made()
    checked = covariance_bound.check({"curve": curve}, P)
    assert checked["verdict"].to_series().to_dict() == dict.fromkeys(("bound", "estimation", "top", "bottom"), "holds")
    assert checked["seeds"].values.tolist() == [INSTANCES, INSTANCES, 0, 0]
    store.save(checked, tmp_path / "claims.nc")


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("bound", {"violations": 0.2}),
        ("estimation", {"estimation": 0.2}),
        ("top", {"top": -1.5 - 1.2 * P.near}),
        ("top", {"top": -1.5 + 1.2 * P.near}),
        ("bottom", {"bottom": -0.5 - 1.2 * P.near}),
        ("bottom", {"bottom": -0.5 + 1.2 * P.near}),
    ],
)
def test_each_claim_fails_with_what_it_is_about(claim, told):
    found = verdicts(made(**told))
    assert {name for name, verdict in found.items() if verdict == "fails"} == {claim}
    assert {name for name, verdict in found.items() if verdict == "holds"} == set(found) - {claim}
