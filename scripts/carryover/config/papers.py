"""The papers' files: each has what one paper says of itself, and the experiments, claims and figures made of it.

A paper is a file `config/papers/<paper>.yaml` with its name, title and so on under `paper`. What is too much for one
file stands in parts, `config/papers/<paper>/<part>.yaml`. `heading` is that of a file's figures in the report. `papers`
in the configuration names those that are to run; what their files hold is laid under the configuration, so that
overlays have the last word.
"""

from pathlib import Path

from carryover.config import files
from carryover.config.artifacts import ARTIFACTS
from carryover.errors import UserError

# In this order each is made of those before it.
SECTIONS = ("experiments", "curves", *(kind.section for kind in ARTIFACTS.values()))


def resolved(config, folder):
    """The configuration with what the files of its `papers` hold, `papers` being {file: what the paper says of itself}.

    `papers` has all files, since claims may be of papers that are not to run. Every entry says under `paper` in which
    file it stands. What stands in files that are not to run is left out, and so is what is made of it. A configuration
    without a list of papers is returned as it is. Raises UserError for a paper that is not there, and where two files
    define the same.
    """
    names = config.get("papers", {})
    if isinstance(names, dict):
        return config
    names, contents = names if isinstance(names, list) else [names], read(folder)
    if unknown := [name for name in names if name not in contents]:
        known = ", ".join(contents)
        raise UserError(f"papers: there is no config/papers/{unknown[0]}.yaml; the papers there are: {known}.")
    chosen = [file for name in names for file in contents if file == name or file.startswith(f"{name}/")]
    below, absent, owners = {"papers": {name: _about(name, contents) for name in contents}}, set(), {}
    for file in [*dict.fromkeys(chosen), *(file for file in contents if file not in chosen)]:
        for section, name, entry in _entries(contents[file]):
            owner = owners.setdefault((section, name), file)
            if owner != file:
                both = f"config/papers/{owner}.yaml and config/papers/{file}.yaml"
                raise UserError(f"{both} both define {section}.{name}; let one of them leave it out.")
            if file in chosen:
                own = entry if section == "curves" or not isinstance(entry, dict) else {**entry, "paper": file}
                below.setdefault(section, {})[name] = own
            else:
                absent.add((section, name))
    for file, about in below["papers"].items():
        first = ("figures", about.get("first"))
        if first[1] and first not in owners and first[1] not in (config.get("figures") or {}):
            raise UserError(f"config/papers/{file}.yaml: paper.first: there is no figure {first[1]}.")
    above = {key: value for key, value in config.items() if key != "papers"}
    return _without(files.overlaid(below, above, removing=True), absent)


def read(folder):
    """{paper or paper/part: what its file holds}; UserError for a file that has other keys than it may."""
    paths = [*folder.glob("*.yaml"), *folder.glob("*/*.yaml")]
    names = sorted(path.relative_to(folder).with_suffix("").as_posix() for path in paths)
    contents = {name: files.read(folder / f"{name}.yaml", f"config/papers/{name}.yaml") for name in names}
    for name, content in contents.items():
        paper = name.partition("/")[0]
        allowed = (*(["paper"] if name == paper else []), "heading", *SECTIONS)
        if unknown := sorted(str(key) for key in content if key not in allowed):
            raise UserError(f"config/papers/{name}.yaml: unknown key {unknown[0]}; allowed here: {', '.join(allowed)}.")
        if paper not in contents:
            raise UserError(f"config/papers/{name}.yaml: it is a part of config/papers/{paper}.yaml, which is missing.")
    return contents


def _about(file, contents):
    """What the paper says of itself, and the heading of the file."""
    about = contents[file.partition("/")[0]].get("paper") or {}
    return about | {key: contents[file][key] for key in ("heading",) if key in contents[file]}


def _entries(config):
    """(section, name, entry) of everything that a configuration or a file defines."""
    for section in SECTIONS:
        entries = config.get(section)
        yield from ((section, *item) for item in entries.items()) if isinstance(entries, dict) else ()


def _without(config, absent):
    """The configuration less what stands in `absent` places, and what is made of it; titles rest on no claim there."""
    gone, whole = set(absent), dict(config)
    for section, name, entry in _entries(config):
        if (section, name) in gone or _data(entry) & gone:
            gone.add((section, name))
            whole[section] = {other: one for other, one in whole[section].items() if other != name}
        elif isinstance(entry, dict) and isinstance(entry.get("rests_on"), list):
            claims = [one for one in entry["rests_on"] if ("claims", str(one).partition("/")[0]) not in gone]
            whole[section] = whole[section] | {name: {**entry, "rests_on": claims}}
    return whole


def _data(entry):
    """The places of what an entry is made of."""
    data = entry.get("data") if isinstance(entry, dict) else None
    refs = [Path(ref).parts for ref in data.values() if isinstance(ref, str)] if isinstance(data, dict) else []
    places = {"theory": "curves"} | {section: section for section in SECTIONS}
    return {(places[ref[0]], ref[1]) if ref[0] in places else ("experiments", ref[0]) for ref in refs if len(ref) == 2}
