"""The datasets' labels, transferability for targets of other norms by simulation, and whether distances predict it."""

import pytest

from carryover.config.parameters import model_of
from carryover.theory.curves.transfer_distances import compute


@pytest.fixture(scope="module")
def curve():
    return compute(model_of("theory.curves", "transfer_distances")(samples=60, repeats=2))


def test_over_norms_distance_predicts_neither(curve):
    """A target twice the source is as far as one turned by π/3, and transfers better."""
    found = compute(
        model_of("theory.curves", "transfer_distances")(
            angle=(0.0, 1 / 3), target_norm=(1.0, 2.0), samples=2, repeats=1
        )
    )
    longer, turned = found.sel(target_norm=2.0, angle=0.0), found.sel(target_norm=1.0).isel(angle=1)
    assert longer.kl == pytest.approx(turned.kl.item(), rel=1e-12)
    assert longer.linear > 0 > turned.linear
    assert longer.finetuning > turned.finetuning + 1
    assert (curve.kl.sel(angle=1.0).diff("target_norm") > 0).all()
    assert (curve.linear.sel(angle=1.0).diff("target_norm") > 0).all()
