"""The papers' files: each has what one paper says of itself, and the experiments, claims and figures made of it.

A paper is a file `config/papers/<paper>.yaml` with its name, title and so on under `paper`. What is too much for one
file stands in parts, `config/papers/<paper>/<part>.yaml`. `heading` is that of a file's figures in the report. `papers`
in the configuration names those that are to run; what their files hold is laid under the configuration, so that
overlays have the last word.
"""

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
    below, owners = {section: {} for section in SECTIONS}, {}
    for file in dict.fromkeys([*chosen, *contents]):
        for section in SECTIONS:
            for name, entry in (contents[file].get(section) or {}).items():
                if (section, name) in owners:
                    both = f"config/papers/{owners[section, name]}.yaml and config/papers/{file}.yaml"
                    raise UserError(f"{both} both define {section}.{name}; let one of them leave it out.")
                owners[section, name] = file
                has_paper = section != "curves" and isinstance(entry, dict)
                below[section][name] = entry | {"paper": file} if has_paper else entry
    whole = files.overlaid(below, {key: value for key, value in config.items() if key != "papers"}, removing=True)
    whole["papers"] = {}
    for file, content in contents.items():
        about = dict(contents[file.partition("/")[0]].get("paper") or {})
        first = about.get("first")
        if first and ("figures", first) not in owners and first not in whole.get("figures", {}):
            raise UserError(f"config/papers/{file}.yaml: paper.first: there is no figure {first}.")
        whole["papers"][file] = about | ({"heading": content["heading"]} if "heading" in content else {})
    gone = {_path(*entry) for entry, file in owners.items() if file not in chosen}
    return _without(gone, whole) if gone else whole


def read(folder):
    """{paper or paper/part: what its file holds}; UserError for a file that has other keys than it may."""
    paths = [*folder.glob("*.yaml"), *folder.glob("*/*.yaml")]
    names = sorted(path.relative_to(folder).with_suffix("").as_posix() for path in paths)
    contents = {name: files.read(folder / f"{name}.yaml") for name in names}
    for name, content in contents.items():
        paper = name.partition("/")[0]
        allowed = (*(["paper"] if name == paper else []), "heading", *SECTIONS)
        if unknown := sorted(str(key) for key in content if key not in allowed):
            raise UserError(f"config/papers/{name}.yaml: unknown key {unknown[0]}; allowed here: {', '.join(allowed)}.")
        if wrong := [section for section in SECTIONS if not isinstance(content.get(section), dict | None)]:
            raise UserError(f"config/papers/{name}.yaml: {wrong[0]} must hold sections by name.")
        if paper not in contents:
            raise UserError(f"config/papers/{name}.yaml: it is a part of config/papers/{paper}.yaml, which is missing.")
    return contents


def _path(section, name):
    """How data refer to an entry; to the measures of an experiment below its name."""
    return {"experiments": name, "curves": f"theory/{name}"}.get(section, f"{section}/{name}")


def _without(gone, config):
    """The configuration less the entries whose paths are in `gone`, and less what is made of them; titles rest on no
    claim there."""
    for section in SECTIONS:
        for name, entry in list(config.get(section, {}).items()):
            data = entry.get("data", {}).values() if entry else ()
            if _path(section, name) in gone or any(ref in gone or ref.partition("/")[0] in gone for ref in data):
                gone.add(_path(section, name))
                del config[section][name]
            elif entry and "rests_on" in entry:
                claims = [one for one in entry["rests_on"] if _path("claims", one.partition("/")[0]) not in gone]
                config[section][name] = entry | {"rests_on": claims}
    return config
