"""Configurations and command lines as the schema allows them, with something wrong here and there."""

from hypothesis import strategies as st

from carryover.config import configuration

SCHEMA = configuration.schema()
HOSTILE = st.sampled_from([
    None, True, "", "x", "1e-3", -1, 0, 10**12, 10**26, 2**70, float("nan"), float("inf"), 1e-320, 1.5, [], {}, [[]],
    [1, 1], {"a": 1}, "a\nb", "--x", "$(touch PWNED)", "x;touch PWNED", "..", "/", "~", "ü" * 300, r"$\frac{$",
])  # fmt: skip
HOSTILE_WORDS = st.sampled_from([
    "", "x", "-1", "0", "1e3", "0x10", "1_0", "nan", "inf", "1e-320", "1e400", str(10**12), str(10**26), str(2**70),
    "--", "-x", "--help", "a\nb", "$(touch PWNED)", "ü" * 300, "\udcff", "None", "True",
])  # fmt: skip


def resolved(schema):
    while "$ref" in schema:
        node = SCHEMA
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        schema = node
    return schema


def rarely(strategy, otherwise, share=12):
    """A value of `strategy` once in so many times, never where that is 0."""
    return st.integers(1, max(1, share)).flatmap(lambda n: strategy if n == share else otherwise)


def plain(schema):
    """A small value that the schema of a parameter allows."""
    schema = resolved(schema)
    if "anyOf" in schema:
        single = plain(schema["anyOf"][0])
        return st.one_of(single, st.lists(single, min_size=1, max_size=2, unique=True))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    least = schema.get("minimum", schema.get("exclusiveMinimum", -1))
    most = schema.get("maximum", least + 6)
    if schema.get("type") == "integer":
        return st.integers(int(least), int(most))
    if schema.get("type") == "number":
        return st.sampled_from([least + share * (most - least) for share in (0.01, 0.1, 0.5, 1.0)])
    if schema.get("type") == "boolean":
        return st.booleans()
    if schema.get("type") == "array":
        return st.lists(plain(schema["items"]), max_size=2, unique=True)
    return st.sampled_from(["", "a", "risk", "seed"])


def section(definition, but=(), share=12):
    """A section of parameters: some of them, a hostile value once in so many, an unknown key now and then.

    Where nothing is to be wrong they are few: of many, one is as a rule read under other conditions alone.
    """
    kinds = {name: kind for name, kind in definition["properties"].items() if name not in but}

    @st.composite
    def drawn(draw):
        names = [name for name in kinds if draw(st.integers(0, 3 if share else 9)) == 0]
        made = {name: draw(rarely(HOSTILE, plain(kinds[name]), share)) for name in names}
        return made | draw(rarely(st.just({"unknown": 1}), st.just({}), 3 * share))

    return drawn()


def whole_numbers(definition):
    """Parameters that say how large or how long something is; left out, they would be as large as usual."""
    kinds = {name: resolved(kind) for name, kind in definition["properties"].items()}
    return [name for name, kind in kinds.items() if (kind.get("anyOf", [kind])[0]).get("type") == "integer"]
