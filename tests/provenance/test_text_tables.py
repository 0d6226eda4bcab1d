"""Tables as text come as pandas reads them, and a damaged one is named in one sentence."""

from pathlib import Path

import pandas as pd
import pytest

from carryover.errors import DataError
from carryover.provenance import text_tables

ROOT = Path(__file__).resolve().parents[2]
DAMAGED = {
    b"": "No columns to parse from file",
    b"a,b\n1,2\n\xff,3\n": "'utf-8' codec can't decode",
    b"a,b\n1,2\n3,4,5\n": "line 2 has 2 cells and line 3 has 3 cells",
    b"a,b\n1,2\n\n3\n": "line 2 has 2 cells and line 4 has 1 cells",
    b'a,b\n1,"2\n': "unexpected end of data",
}


@pytest.mark.parametrize(("content", "sentence"), DAMAGED.items())
def test_a_damaged_table_is_named_in_a_sentence(tmp_path, content, sentence):
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(DataError, match=rf"table\.csv is no table with commas: {sentence}"):
        text_tables.read(tmp_path / "table.csv")


@pytest.mark.parametrize("path", sorted((ROOT / "resources/published").glob("*.csv")), ids=lambda path: path.stem)
def test_the_tables_that_ship_are_read_as_they_are(path):
    pd.testing.assert_frame_equal(text_tables.read(path), pd.read_csv(path))
