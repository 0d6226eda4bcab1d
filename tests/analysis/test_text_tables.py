"""Tables as text come as pandas reads them, and a damaged one is named in one sentence with what is wrong."""

from pathlib import Path

import pandas as pd
import pytest

from carryover.analysis import published_risks, text_tables
from carryover.errors import DataError

ROOT = Path(__file__).resolve().parents[2]
DAMAGED = {
    b"": "{} is no table with commas: it is empty.",
    b"\n\n": "{} is no table with commas: it is empty.",
    b"a,b\n": "{} is no table with commas: it has no row below the names of its columns.",
    b"a,b\n1,2\n\xff,3\n": "{} is no table with commas: line 3 is no text in UTF-8.",
    b"a,b\n1,2\n3,4,5\n": "{} is no table with commas: line 3 has 3, and the first 2 cells.",
    b"a,b\n1,2,3\n4,5,6\n": "{} is no table with commas: line 2 has 3, and the first 2 cells.",
    b"a,b\n1,2\n\n3\n": "{} is no table with commas: line 4 has 1, and the first 2 cells.",
    b"a,b,a\n1,2,3\n": "{} is no table with commas: the column a stands there twice.",
    b'a,b\n1,"2\n': "{} is no table with commas: unexpected end of data.",
    b'a,b\n"x\ny",1\n"z",2\n"z",one\n"z",3\n': "{}: line 5 has 'one' in the column b, whose other cells are numbers.",
}


@pytest.mark.parametrize(("content", "said"), DAMAGED.items())
def test_a_damaged_table_is_named_in_a_sentence(tmp_path, content, said):
    file = tmp_path / "table.csv"
    file.write_bytes(content)
    for read in (text_tables.read, published_risks.read):
        with pytest.raises(DataError) as refused:
            read(file)
        assert str(refused.value) == said.format(file)


def test_a_missing_table_and_a_folder_are_named(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.csv is missing"):
        text_tables.read(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match=r"cannot be read: Is a directory"):
        text_tables.read(tmp_path)


@pytest.mark.parametrize("path", sorted((ROOT / "resources/published").glob("*.csv")), ids=lambda path: path.stem)
def test_the_tables_that_ship_are_read_as_they_are(path):
    pd.testing.assert_frame_equal(text_tables.read(path), pd.read_csv(path))
