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


def merge_papers(config, folder):
    """The dictionary `config` merged with the files of its `papers`, from the folder config/papers.

    The result's `papers` is {file: description of the paper} for all files, since claims may be of papers that are not
    to run. The `paper` of an entry names its file. Entries of files that are not to run are left out, and so is what
    depends on them, but for those of the configuration's own. A configuration without a list of papers is returned
    unchanged. Raises UserError for a paper that does not exist, and for an entry that two files define.
    """
    names = config.get("papers", {})
    if isinstance(names, dict):
        return config
    names, contents = names if isinstance(names, list) else [names], read(folder)
    if not all(isinstance(name, str) and name for name in names):
        raise UserError("papers: it must be a list of files of config/papers, [] for none.")
    if unknown := [name for name in names if name not in contents]:
        known = ", ".join(contents)
        raise UserError(f"papers: there is no config/papers/{unknown[0]}.yaml; the papers there are: {known}.")
    _check_sections("configuration", config)
    chosen = [file for name in names for file in contents if file == name or file.startswith(f"{name}/")]
    # Entries of files that are not to run are laid below too, for a change of one in the configuration has no meaning
    # alone: both go in the end, with what depends on them.
    own = _own_entries(config)
    below: dict[str, dict] = {section: {} for section in SECTIONS}
    owners: dict = {}
    for file in dict.fromkeys([*chosen, *contents]):
        for section in SECTIONS:
            for name, entry in (contents[file].get(section) or {}).items():
                if (section, name) in owners:
                    both = f"config/papers/{owners[section, name]}.yaml and config/papers/{file}.yaml"
                    raise UserError(f"{both} both define {section}.{name}; let one of them leave it out.")
                owners[section, name] = file
                if file not in chosen and (section, name) in own:
                    del owners[section, name]
                    continue
                has_paper = section != "curves" and isinstance(entry, dict)
                below[section][name] = entry | {"paper": file} if has_paper else entry
    for section in SECTIONS:
        for name, entry in (config.get(section) or {}).items():
            if entry is None and section != "curves" and name not in below[section]:
                raise UserError(
                    f"configuration: {section}.{name} is null, but nothing of that name is there to remove."
                )
    merged = files.overlaid(below, {key: value for key, value in config.items() if key != "papers"}, removing=True)
    merged["papers"] = {}
    for file, content in contents.items():
        about = dict(contents[file.partition("/")[0]].get("paper") or {})
        first = about.get("first")
        if first and ("figures", first) not in owners and first not in merged.get("figures", {}):
            raise UserError(f"config/papers/{file}.yaml: paper.first: there is no figure {first}.")
        merged["papers"][file] = about | ({"heading": content["heading"]} if "heading" in content else {})
    removed = {_path(*entry) for entry, file in owners.items() if file not in chosen}
    return _without(removed, merged) if removed else merged


def _own_entries(config):
    """{(section, name)} of what a configuration defines completely, rather than changing keys of a paper's entry:
    experiments that name a family, and curves that its own comparisons, claims, figures or tables use as data."""
    experiments = {name for name, entry in (config.get("experiments") or {}).items()
                   if isinstance(entry, dict) and "family" in entry}  # fmt: skip
    entries = [entry for kind in ARTIFACTS.values() for entry in (config.get(kind.section) or {}).values()]
    data = {ref for entry in entries for ref in _references(entry)}
    curves = {name for name in config.get("curves") or {} if _path("curves", name) in data}
    return {("experiments", name) for name in experiments} | {("curves", name) for name in curves}


def read(folder):
    """{paper or paper/part: content of its file}; UserError for a file with unknown keys."""
    paths = [*folder.glob("*.yaml"), *folder.glob("*/*.yaml")]
    names = sorted(path.relative_to(folder).with_suffix("").as_posix() for path in paths)
    contents = {name: files.read(folder / f"{name}.yaml") for name in names}
    for name, content in contents.items():
        paper = name.partition("/")[0]
        allowed = (*(["paper"] if name == paper else []), "heading", *SECTIONS)
        if unknown := sorted(str(key) for key in content if key not in allowed):
            raise UserError(f"config/papers/{name}.yaml: unknown key {unknown[0]}; allowed here: {', '.join(allowed)}.")
        _check_sections(f"config/papers/{name}.yaml", content)
        if paper not in contents:
            raise UserError(f"config/papers/{name}.yaml: it is a part of config/papers/{paper}.yaml, which is missing.")
    return contents


def _check_sections(file, content):
    if wrong := [section for section in SECTIONS if not isinstance(content.get(section), dict | None)]:
        raise UserError(f"{file}: {wrong[0]} must hold sections by name.")


def _path(section, name):
    """The path by which `data` refers to an entry, or, for an experiment, to the folder of its measures."""
    return {"experiments": name, "curves": f"theory/{name}"}.get(section, f"{section}/{name}")


def _references(entry):
    """What an entry names as `data`; what is not text is left to the validation of the whole configuration."""
    data = entry.get("data") if isinstance(entry, dict) else None
    return [ref for ref in data.values() if isinstance(ref, str)] if isinstance(data, dict) else []


def _without(removed, config):
    """The configuration without the entries in `removed`, those that use their data, and references to their claims.

    `removed` are paths as `_path` returns them. One pass is enough, as each entry is made of earlier ones.
    """
    for section in SECTIONS:
        for name, entry in list(config.get(section, {}).items()):
            data = _references(entry)
            paths = {_path(section, name), *data, *(path.partition("/")[0] for path in data)}
            if paths & removed:
                removed.add(_path(section, name))
                del config[section][name]
            elif isinstance(entry, dict) and isinstance(entry.get("supported_by"), list):
                claims = [c for c in entry["supported_by"]
                          if not isinstance(c, str) or _path("claims", c.partition("/")[0]) not in removed]  # fmt: skip
                config[section][name] = entry | {"supported_by": claims}
    return config
