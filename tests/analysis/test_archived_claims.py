"""Tables of claims as text come back as they were, and stand beside others."""

import numpy as np
import pytest

from analysis.test_claims_table import group
from carryover.analysis import archived_claims, claims_table
from carryover.errors import UserError
from carryover.report import claims_page


@pytest.fixture
def archived(tmp_path):
    """A table of three claims, as it comes back."""
    table = claims_table.gathered({"one": group({"up": 20.0, "down": -20.0, "gone": 1.0})})
    archived_claims.write(table, tmp_path / "claims.csv")
    return table, archived_claims.read(tmp_path / "claims.csv")


def test_a_table_comes_back_as_it_was(archived):
    table, again = archived
    assert again["claim"].tolist() == table["claim"].values.tolist()
    for name in archived_claims.WORDS:
        assert again[name].tolist() == table[name].values.tolist()
    for name in set(archived_claims.NUMBERS) & set(table):
        np.testing.assert_array_equal(again[name].astype(float), table[name].values)


def test_what_claims_are_elsewhere_stands_beside_them(archived):
    groups = {"one": group({"up": 20.0, "down": 0.1}), "two": group({"new": 20.0})}
    table = claims_table.gathered(groups, {"papers' scale": archived[1], "night": archived[1]})
    said = dict(zip(table["claim"].values.tolist(), table["elsewhere"].values.tolist(), strict=True))
    words = "papers' scale"
    one = f"{words}: holds, 20 [18.7, 21.3]"
    assert said["one/up"] == f"{one}; {one.replace(words, 'night')}"
    assert said["one/down"].startswith("papers' scale: fails (differs), -20 [")
    assert said["two/new"] == "papers' scale: not known; night: not known"
    assert "1 have another verdict elsewhere" in claims_page.summary(table)
    assert claims_page.page(table).count("fails (differs)") >= 2


def test_another_bound_is_said_since_verdicts_may_differ_by_it(archived):
    _, found = archived
    for bound, said in ((0.0, ""), (np.nan, ""), (0.01, ", of the bound 0.01"), (-1e-3, ", of the bound -0.001")):
        table = claims_table.gathered({"one": group({"up": 20.0})}, {"night": found.assign(bound=bound)})
        assert table["elsewhere"].item() == f"night: holds, 20 [18.7, 21.3]{said}"
    table = claims_table.gathered({"one": group({"up": 20.0})}, {"night": found.drop(columns="bound")})
    assert table["elsewhere"].item() == "night: holds, 20 [18.7, 21.3]"


def test_without_other_tables_there_is_no_column_of_them():
    table = claims_table.gathered({"one": group({"up": 20.0})})
    assert "elsewhere" not in table
    assert "elsewhere" not in claims_page.page(table)


FIRST = "claim,verdict,statistic,low,high,bound\n"
DAMAGED = {
    f"{FIRST}g/a,holds,n/a,1,1,0\n": "g/a: statistic is 'n/a', and must be a number, or empty.",
    f'{FIRST}g/a,holds,1,1,1,0\ng/b,holds,1,"1,5",1,0\n': "g/b: low is '1,5', and must be a number, or empty.",
    f"{FIRST}g/a,,1,1,1,0\n": "g/a: verdict is '', and must be one of fails, undecided, holds.",
    f"{FIRST}g/a,Holds,1,1,1,0\n": "g/a: verdict is 'Holds', and must be one of fails, undecided, holds.",
    f"{FIRST}g/a,holds,1,1,1,0\ng/a,fails,1,1,1,0\n": "g/a stands twice in the column claim.",
}


@pytest.mark.parametrize(("text", "said"), DAMAGED.items())
def test_a_claim_that_cannot_be_read_is_named_with_its_column(tmp_path, text, said):
    (tmp_path / "claims.csv").write_text(text)
    with pytest.raises(UserError) as refused:
        archived_claims.read(tmp_path / "claims.csv")
    assert str(refused.value) == f"{tmp_path / 'claims.csv'}: {said}"


def test_a_number_may_lack_and_so_may_columns_of_older_tables(tmp_path):
    (tmp_path / "claims.csv").write_text("claim,verdict,statistic,low,high\ng/a,undecided,,nan,\n")
    assert archived_claims.read(tmp_path / "claims.csv")[["statistic", "low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize("text", ["", FIRST, f"{FIRST}a,holds,1,1,1,0,0\n", "claim,verdict\na,holds\n", "\x00\x01",
                                  'claim,"'])  # fmt: skip
def test_a_file_that_is_no_such_table_is_named(tmp_path, text):
    (tmp_path / "claims.csv").write_text(text)
    with pytest.raises(UserError, match=r"claims\.csv is no archived table of claims"):
        archived_claims.read(tmp_path / "claims.csv")
    with pytest.raises(UserError, match=r"other\.csv is missing"):
        archived_claims.read(tmp_path / "other.csv")
