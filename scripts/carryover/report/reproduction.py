"""The reproduction index: every figure, table and theorem of a paper, in its order, with what is ours for it."""


def items(about, config, claims):
    """What the file of a paper says of each figure, table and theorem, with what this configuration makes of it.

    Parameters
    ----------
    about : dict
        The paper, as `papers` in the configuration has it.
    config : dict
        The configuration; of figures and tables, those that it makes are named.
    claims : dict
        {claim: what is found of it}; claims that are not tested here are left out.

    Returns
    -------
    list of dict
        The items with `figures` and `tables` of this configuration, their `data`, and `claims` as found.
    """
    found = []
    for item in about.get("items", []):
        made = {kind: [n for n in item.get(kind, []) if n in config.get(kind, {})] for kind in ("figures", "tables")}
        entries = [config[kind][name] for kind, names in made.items() for name in names]
        data = dict.fromkeys(file for entry in entries for file in entry.get("data", {}).values())
        known = [claims[name] for name in item.get("claims", []) if name in claims]
        found.append({"functions": [], "differs": ""} | item | made | {"data": list(data), "claims": known})
    return found


def section(items, pictures, command):
    """The index of one paper in Markdown: small pictures, verdicts, what differs, and the command that draws it anew.

    Parameters
    ----------
    items : list of dict
        As `items` has them.
    pictures : str
        Folder of the small pictures, as seen from the page.
    command : str
        Command that draws figures, with `{}` for their names.
    """
    parts = []
    for item in items:
        parts.append(f"### {item['item']}: {item['shows']}")
        parts += [f"[![{name}]({pictures}/{name}.png)]({pictures}/{name}.png)" for name in item["figures"]]
        names = "{" + ",".join(item["figures"]) + "}" if len(item["figures"]) > 1 else "".join(item["figures"])
        lines = [f"- **{claim['verdict']}**: {claim['statement']}" for claim in item["claims"]]
        facts = {
            "What differs": item["differs"],
            "Functions": ", ".join(f"`carryover.{name}`" for name in item["functions"]),
            "Data": ", ".join(f"`{name}`" for name in item["data"]),
            "Draw": f"`{command.format(names)}`" if names else "",
        }
        lines += [f"- {term}: {text}" for term, text in facts.items() if text]
        parts.append("\n".join(lines))
    return "\n\n".join(part for part in parts if part) + "\n"
