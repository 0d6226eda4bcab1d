"""The written forms of the schema: config/schema.yaml, and pages of docs/ with all parameters."""

import yaml

from carryover.config.parameters import allowed, in_words

FOLDERS = {
    "measures": "What is measured on networks",
    "curves": "Theory curves",
    "comparisons": "How datasets are compared",
    "plotting": "How figures are drawn",
    "claims": "How claims are checked",
    "tables": "How tables are made",
    "diagnoses": "Diagnoses",
}
NOTE = "<!-- Made by `make schema` from the parameters in scripts/carryover/; edit them, not this page. -->"


def schema_text(schema):
    """The schema as YAML, ready to be committed."""
    header = "# Made by `make schema` from the parameters in scripts/carryover/; edit them, not this file.\n"
    return header + yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=120)


def pages(schema):
    """{file below docs/: page} with the tables of every section's parameters: a page for each family, and for each
    other kind of plug-in."""
    families = schema["$defs"]["experiment"]["properties"]["family"]["enum"]
    made = {f"families/{name}.md": _page(f"The family `{name}`", name, schema) for name in families}
    made |= {f"parameters/{name}.md": _page(title, name, schema) for name, title in FOLDERS.items()}
    return {file: page for file, page in made.items() if page}


def _page(title, owner, schema):
    page = tables(schema, owner)
    return page and f"{NOTE}\n\n# {title}\n\n{page}"


def tables(schema, owner):
    """One Markdown table per section `owner.…` that has parameters; what stages share stands in their task alone."""
    parts = []
    task = schema["$defs"].get(f"{owner}.task", {"properties": {}})["properties"]
    for name, section in schema["$defs"].items():
        own = {k: v for k, v in section.get("properties", {}).items() if k not in task or name.endswith(".task")}
        fits = " ".join(filter(None, (_fits(section), _data(schema["$defs"].get(f"roles.{name}")))))
        if name.startswith(f"{owner}.") and (own or fits):
            head = ["| key | meaning | allowed | default | read where |", "|---|---|---|---|---|"]
            parts += [f"## `{name}`\n", *([fits, ""] if fits else []), *(head if own else [])]
            parts += [_row(key, value) for key, value in own.items()] + ([""] if own else [])
    return "\n".join(parts)


def _fits(section):
    """A sentence on the jobs to which a measure applies, or nothing."""
    if "families" not in section:
        return ""
    where = " and ".join(in_words(section[key]) for key in ("applies_to", "needs") if key in section)
    return f"For {', '.join(section['families'])}{', where ' if where else ''}{where}."


def _data(roles):
    """A sentence on the roles of the data that a plug-in reads, or nothing where these have any names."""
    if roles is None:
        return ""
    needed = [f"`{role}`" for role in roles["required"]]
    given = [f"`{role}`" for role in roles["properties"] if role not in roles["required"]]
    both = ", ".join(needed), f"{'where given' if needed else 'one at least of'} {', '.join(given)}" if given else ""
    return f"Data: {'; '.join(filter(None, both))}."


def _row(key, schema):
    unit = f" [{schema['unit']}]" if "unit" in schema else ""
    when = "; ".join(f"{axis}: {', '.join(map(str, values))}" for axis, values in schema.get("when", {}).items())
    several = " (a job each)" if schema.get("several") == "jobs" else ""
    allows = allowed(schema).replace(", or a list of such without repeats", "; several")
    cells = f"`{key}`", f"{schema['description']}{unit}", allows + several, _value(schema["default"]), when or "always"
    return f"| {' | '.join(cells)} |"


def _value(value):
    written = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True).removesuffix("...\n").strip()
    return f"`{written}`"
