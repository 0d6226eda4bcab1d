"""Every trainer that is killed again and again, at any step, ends with the same bits as one that is not."""

import pytest
import xarray as xr

from toy.mortal_states import whole_and_killed
from toy.trainer_shards import RESUMED

pytestmark = pytest.mark.portable


@pytest.mark.parametrize("part", [pytest.param(4, marks=pytest.mark.extended), 7])
@pytest.mark.parametrize("name", RESUMED)
def test_killed_at_any_step_it_ends_with_the_same_bits(name, part, tmp_path):
    whole, found, starts = whole_and_killed(RESUMED[name], tmp_path, part)
    xr.testing.assert_identical(found, whole)
    assert starts > 2
