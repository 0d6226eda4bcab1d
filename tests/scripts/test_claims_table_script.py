"""The table of claims by hand, in process: what is no group of claims is named, and nothing is left."""

from pathlib import Path

import pytest
import xarray as xr

from carryover.claims.support import table as claims_table
from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import store
from carryover.report.claims_page import main
from toy.made_up_runs import group

RISK = xr.Dataset({"risk": ("run", [0.5, 0.25], attributes("made up"))})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with one group, and its table."""
    monkeypatch.chdir(tmp_path)
    store.save(group({"up": [19.0, 20.0, 21.0], "down": [-19.0, -20.0, -21.0]}), "one.nc")
    main(["one.nc", "--output", "claims.nc"])


def test_a_table_of_groups_and_beside_it_another(capsys):
    claims_table.write(store.load("claims.nc"), "claims.csv")
    main(["one.nc", "--others", "night=claims.csv", "--output", "more.nc", "more.md"])
    assert set(store.load("more.nc")["claim"].values.tolist()) == {"one/up", "one/down"}
    assert (store.load("more.nc")["elsewhere"].str.startswith("night: ")).all()
    Path("claims.csv").write_text(Path("claims.csv").read_text().replace(",20.0,", ",high,"))
    with pytest.raises(UserError, match=r"^claims\.csv: the column statistic must hold numbers\.$"):
        main(["one.nc", "--others", "night=claims.csv", "--output", "none.nc"])
    assert not Path("none.nc").exists()


def test_a_dataset_that_is_no_group_of_claims_is_named():
    store.save(RISK, "x.nc")
    with pytest.raises(UserError, match=r"^x\.nc is no group of claims, as check_claims.py makes one: it has no claim"):
        main(["one.nc", "x.nc", "--output", "none.nc"])
    assert not Path("none.nc").exists()
