"""The written forms of the schema: config/schema.yaml, and the tables of config/README.md."""

import yaml

from carryover.config.parameters import allowed

BEGIN, END = "<!-- tables: made by `make schema` -->", "<!-- end of tables -->"


def schema_text(schema):
    """The schema as YAML, ready to be committed."""
    header = "# Made by `make schema` from the parameters in scripts/carryover/; edit them, not this file.\n"
    return header + yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=120)


def fill(page, schema):
    """A page with what stands between its two marks replaced by the tables of every section's parameters."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables(schema)}\n{END}{after}"


def tables(schema):
    """One Markdown table per plug-in that has parameters; what stages share stands in their family's task alone."""
    parts = []
    for name, section in schema["$defs"].items():
        task = schema["$defs"].get(f"{name.partition('.')[0]}.task", {"properties": {}})["properties"]
        own = {k: v for k, v in section.get("properties", {}).items() if k not in task or name.endswith(".task")}
        if "." in name and own:
            parts += [f"### `{name}`\n", "| key | meaning | allowed | default | read where |", "|---|---|---|---|---|"]
            parts += [_row(key, value) for key, value in own.items()] + [""]
    return "\n".join(parts)


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
