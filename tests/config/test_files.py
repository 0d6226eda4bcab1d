"""What YAML takes without a word, and a reader would not expect, is refused in one sentence."""

import pytest

from carryover.config import files
from carryover.errors import UserError


def read(folder, text, name="mine.yaml"):
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return files.read(path)


def doubled(section):
    """40 sections, each with that before it in the place of every star."""
    later = (f"x{i}: &x{i} {section.replace('*', f'*x{i - 1}')}\n" for i in range(1, 40))
    return "x0: &x0 {k: 1}\n" + "".join(later)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "mine.yaml cannot be read: the key a stands twice in a section in line 1"),
        ("a: &x\n  b: *x\n", "mine.yaml cannot be read: found unconstructable recursive node in line 1"),
        ("a: [\n", "mine.yaml cannot be read: while parsing a flow node did not find expected node content in line 2"),
        ("a: 1\nb: \udcff\n", "mine.yaml cannot be read: 'utf-8' codec can't decode byte"),
        (doubled("{a: *, b: *}"), "mine.yaml cannot be read: it has more than 100000 values, aliases written out"),
        (doubled("{<<: [*, *]}"), "mine.yaml cannot be read: it has more than 100000 values, aliases written out"),
        ('a: "b\\0"\n', "mine.yaml cannot be read: a text has the character NUL or more than 30000 "),
        (f"a: {'b' * 30_001}\n", "mine.yaml cannot be read: a text has the character NUL or more than 30000 "),
        ("a: 010\n", "mine.yaml cannot be read: 010 is 8 in YAML: write that, or put it in quotes in line 1"),
        ("a: [1:30]\n", "mine.yaml cannot be read: 1:30 is 90 in YAML: write that, or put it in quotes in line 1"),
        ("- 1\n", "mine.yaml: it must hold sections of keys and values"),
    ],
)
def test_a_mistake_is_one_sentence(text, said, tmp_path):
    with pytest.raises(UserError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("a: 0\nb: -10\nc: '010'\n", {"a": 0, "b": -10, "c": "010"}),
        ("\ufeffa: 1\n", {"a": 1}),  # as some editors save it
        ("a: &x {b: 1}\nc: {<<: *x, b: 2}\nd: *x\n", {"a": {"b": 1}, "c": {"b": 2}, "d": {"b": 1}}),
    ],
)
def test_what_is_meant_is_taken(text, content, tmp_path):
    assert read(tmp_path, text) == content
