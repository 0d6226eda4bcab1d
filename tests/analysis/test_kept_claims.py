"""Tables of claims that are kept as text come back as they were, and stand beside others."""

import numpy as np
import pytest

from analysis.test_claims_table import group
from carryover.analysis import claims_table, kept_claims
from carryover.errors import UserError
from carryover.report import claims_page


@pytest.fixture
def kept(tmp_path):
    """A table of three claims, as it comes back."""
    table = claims_table.gathered({"one": group({"up": 20.0, "down": -20.0, "gone": 1.0})})
    kept_claims.write(table, tmp_path / "kept.csv")
    return table, kept_claims.read(tmp_path / "kept.csv")


def test_a_table_comes_back_as_it_was(kept):
    table, again = kept
    assert again["claim"].tolist() == table["claim"].values.tolist()
    for name in kept_claims.WORDS:
        assert again[name].tolist() == table[name].values.tolist()
    for name in set(kept_claims.NUMBERS) & set(table):
        np.testing.assert_array_equal(again[name].astype(float), table[name].values)


def test_what_claims_are_elsewhere_stands_beside_them(kept):
    groups = {"one": group({"up": 20.0, "down": 0.1}), "two": group({"new": 20.0})}
    table = claims_table.gathered(groups, {"papers' scale": kept[1], "night": kept[1]})
    said = dict(zip(table["claim"].values.tolist(), table["elsewhere"].values.tolist(), strict=True))
    words = "papers' scale"
    one = f"{words}: holds, 20 [18.7, 21.3]"
    assert said["one/up"] == f"{one}; {one.replace(words, 'night')}"
    assert said["one/down"].startswith("papers' scale: fails (differs), -20 [")
    assert said["two/new"] == "papers' scale: not known; night: not known"
    assert "1 have another verdict in a table that is kept" in claims_page.summary(table)
    page = claims_page.page(table)
    assert page.count("fails (differs)") == 2
    assert claims_page.heads(table)[-1] == claims_page.ELSEWHERE
    assert f"| {claims_page.ELSEWHERE}" in claims_page.markdown(table)


def test_without_kept_tables_there_is_no_column_of_them():
    table = claims_table.gathered({"one": group({"up": 20.0})})
    assert "elsewhere" not in table
    assert claims_page.heads(table) == claims_page.HEADS


@pytest.mark.parametrize("text", ["", "claim,verdict\na,holds\n", "\x00\x01", 'claim,"'])
def test_a_file_that_is_no_such_table_is_named(tmp_path, text):
    (tmp_path / "kept.csv").write_text(text)
    with pytest.raises(UserError, match=r"kept\.csv is no table of claims that was kept"):
        kept_claims.read(tmp_path / "kept.csv")
    with pytest.raises(UserError, match=r"other\.csv is missing"):
        kept_claims.read(tmp_path / "other.csv")
