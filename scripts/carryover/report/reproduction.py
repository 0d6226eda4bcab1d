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
