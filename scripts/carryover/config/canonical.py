"""One form for all that asks for the same: what the flags of a job, the wildcards and an audit are written in (standard
library only).

Numbers have the type of their parameter (`1` is 1.0 where it is a number, and 1e-3 is 0.001), parameters stand in the
order of the code, and what is the default anyway is left out. `kinds` are a section's properties in the schema.
"""

from carryover.config.parameters import words

TYPES = {"integer": int, "number": float}


def typed(value, kind):
    """A value, or a list of them, in the type that the schema has for the parameter; what cannot be, as it is."""
    if isinstance(value, list | tuple):
        return [typed(item, kind) for item in value]
    number = TYPES.get(kind.get("anyOf", [kind])[0].get("type"))
    try:
        return number(value) if number and not isinstance(value, bool) else value
    except ValueError:
        return value


def canonical(values, kinds, keep=()):
    """{name: value} in the order and types of the code, without defaults but for those that are to be kept."""
    own = {name: typed(values[name], kind) for name, kind in kinds.items() if name in values}
    return {name: value for name, value in own.items() if name in keep or not _is_default(value, kinds[name])}


def canonical_words(words, kinds):
    """{name: words} of a command line, by its flags' names, in the same form; what is no parameter stays as it is."""
    own = {name: [spelled(word, kinds[name]) for word in told] for name, told in words.items() if name in kinds}
    others = {name: told for name, told in words.items() if name not in kinds}
    return others | {name: told for name, told in own.items() if told != default_words(kinds[name])}


def spelled(word, kind):
    """A word of a command line as the workflow would write it."""
    return words(typed(word, kind))[0]


def default_words(kind):
    """The words of a parameter that is not given; none where it has no default, or an empty one."""
    return [word for word in words(typed(kind.get("default", []), kind)) if word]


def _is_default(value, kind):
    return "default" in kind and words(typed(kind["default"], kind)) == words(value)
