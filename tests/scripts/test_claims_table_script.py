"""The table of claims by hand, in process."""

from pathlib import Path

import pytest

from carryover.claims.support import table as claims_table
from carryover.errors import UserError
from carryover.provenance import store
from carryover.report.claims_page import main
from toy.made_up_runs import group


def test_a_table_of_groups_and_beside_it_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.save(group({"up": [19.0, 20.0, 21.0], "down": [-19.0, -20.0, -21.0]}), "one.nc")
    main(["one.nc", "--output", "claims.nc"])
    claims_table.write(store.load("claims.nc"), "claims.csv")
    main(["one.nc", "--others", "night=claims.csv", "--output", "more.nc", "more.md"])
    assert set(store.load("more.nc")["claim"].values.tolist()) == {"one/up", "one/down"}
    assert (store.load("more.nc")["elsewhere"].str.startswith("night: ")).all()
    Path("claims.csv").write_text(Path("claims.csv").read_text().replace(",20.0,", ",high,"))
    with pytest.raises(UserError, match=r"^claims\.csv is no archived table of claims: .* 'statistic'\.$"):
        main(["one.nc", "--others", "night=claims.csv", "--output", "none.nc"])
    assert not Path("none.nc").exists()
