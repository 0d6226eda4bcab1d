"""The papers' files: each has what one paper says of itself, and the experiments, claims and figures made of it.

A paper is a file `config/papers/<paper>.yaml` with its name, title and so on under `paper`. What is too much for one
file stands in parts, `config/papers/<paper>/<part>.yaml`. `heading` is that of a file's figures in the report. `papers`
in the configuration names those that are to run; what their files hold is laid under the configuration, so that
overlays have the last word.
"""

from pathlib import Path

from carryover.config import files
from carryover.config.artifacts import MADE_OF_DATA
from carryover.errors import UserError

SECTIONS = ("experiments", "curves", *(kind.section for kind in MADE_OF_DATA.values()))


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
    if names is None:
        raise UserError("configuration: papers: None is not allowed; it must be a list of papers.")
    contents = read(folder)
    _check_first(contents, folder)
    chosen = _chosen([names] if isinstance(names, str) else names, contents, folder)
    owners = _owners(contents, folder)
    below = {"papers": {name: _about(name, contents) for name in contents}}
    for name in chosen:
        below = files.laid_over(below, _own(name, contents[name]))
    for section, name, entry in _entries(config):
        if "paper" in entry:
            owners.setdefault((section, name), _known(entry["paper"], contents, folder, f"{section}.{name}.paper"))
    absent = {place for place, owner in owners.items() if owner in contents and owner not in chosen}
    above = {key: value for key, value in config.items() if key != "papers"}
    whole = files.laid_over(below, above | {section: _without(config[section], section, absent)
                                            for section in SECTIONS if section in config})  # fmt: skip
    for section, name, entry in _entries(whole):
        elsewhere = entry.get("elsewhere")
        for paper in elsewhere if isinstance(elsewhere, dict) else ():
            _known(paper, contents, folder, f"{section}.{name}.elsewhere")
    lacking = _made_of(whole, absent)
    whole |= {section: _without(whole[section], section, lacking) for section in SECTIONS if section in whole}
    if isinstance(whole.get("figures"), dict):
        whole["figures"] = dict(_stated(whole["figures"], absent | lacking))
    return whole


def read(folder):
    """{paper or paper/part: what its file holds}; UserError for a file that has other keys than it may."""
    paths = [*folder.glob("*.yaml"), *folder.glob("*/*.yaml")]
    names = sorted(path.relative_to(folder).with_suffix("").as_posix() for path in paths)
    contents = {name: files.read(folder / f"{name}.yaml", called(name, folder)) for name in names}
    for name, content in contents.items():
        where, paper = called(name, folder), name.partition("/")[0]
        allowed = (*(["paper"] if name == paper else []), "heading", *SECTIONS)
        if unknown := sorted(str(key) for key in content if key not in allowed):
            raise UserError(f"{where}: unknown key {', '.join(unknown)}; allowed here: {', '.join(allowed)}.")
        if paper not in contents:
            raise UserError(f"{where}: there is no {called(paper, folder)}, which says what it is a part of.")
    return contents


def file_of(place, folder):
    """The name of the file that defines an entry, (section, name); None where none does."""
    return _owners(read(folder), folder).get(tuple(place))


def called(name, folder):
    """A paper's file in the words of a sentence: its path from the project's folder."""
    return f"{folder.parent.name}/{folder.name}/{name}.yaml"


def _chosen(names, contents, folder):
    """The files of papers, and of parts, by name, in the order of the names."""
    if not isinstance(names, list):
        raise UserError(f"papers: {names!r} is not allowed; it must be a list of papers.")
    known = [_known(name, contents, folder, "papers") for name in names]
    parts = (file for name in known for file in contents if file == name or file.startswith(f"{name}/"))
    return list(dict.fromkeys(parts))


def _known(name, contents, folder, where):
    """The name, which must be that of a file."""
    if not isinstance(name, str) or name not in contents:
        there = ", ".join(contents) or "none"
        raise UserError(f"{where}: there is no {called(name, folder)}; the papers there are: {there}.")
    return name


def _owners(contents, folder):
    """{(section, entry): the file that defines it}."""
    owners = {}
    for file, content in contents.items():
        for section, name, _ in _entries(content):
            if (section, name) in owners:
                both = f"{called(owners[section, name], folder)} and {called(file, folder)}"
                raise UserError(f"{both} both define {section}.{name}; let one of them leave it out.")
            owners[section, name] = file
    return owners


def _check_first(contents, folder):
    """Refuse a paper whose `first` is no figure of its file, nor of a part of it; UserError."""
    for file, content in contents.items():
        about = content.get("paper")
        first = about.get("first") if isinstance(about, dict) else None
        own = (one for part, one in contents.items() if part.partition("/")[0] == file)
        figures = [name for one in own for section, name, _ in _entries(one) if section == "figures"]
        if first is not None and first not in figures:
            known = ", ".join(figures) or "none"
            raise UserError(f"{called(file, folder)}: paper.first: it has no figure {first}; it has: {known}.")


def _about(file, contents):
    """What the paper says of itself, and the heading of the file."""
    about = contents[file.partition("/")[0]].get("paper")
    heading = {key: contents[file][key] for key in ("heading",) if key in contents[file]}
    return about | heading if isinstance(about, dict) else about


def _own(file, content):
    """The sections of a file, whose entries say where they stand; a curve's are its parameters, and nothing else."""
    own = {section: content[section] for section in SECTIONS if section in content}
    for section, name, entry in _entries(content):
        if entry:
            own[section] = {**own[section], name: {**entry, "paper": file}}
    return own


def _entries(config):
    """(section, name, entry) of everything that a configuration or a file defines.

    Of a curve the entry is its parameters, and so empty here, as is one that the schema will refuse.
    """
    for section in SECTIONS:
        entries = config.get(section)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            yield section, name, entry if isinstance(entry, dict) and section != "curves" else {}


def _without(entries, section, places):
    if not isinstance(entries, dict):
        return entries
    return {name: entry for name, entry in entries.items() if (section, name) not in places}


def _stated(figures, absent):
    """(name, entry) of figures, whose titles rest on no claims in `absent` places: these are not made either."""
    for name, entry in figures.items():
        claims = entry.get("rests_on") if isinstance(entry, dict) else None
        if isinstance(claims, list):
            left = [one for one in claims if ("claims", str(one).partition("/")[0]) not in absent]
            entry = {**entry, "rests_on": left}
        yield name, entry


def _made_of(config, absent):
    """The places of entries that are made of something in `absent` places, or of what is."""
    found = set()
    while more := {(s, name) for s, name, entry in _entries(config) if _data(entry) & (absent | found)} - found:
        found |= more
    return found


def _data(entry):
    """The places of what an entry is made of."""
    data = entry.get("data")
    refs = [Path(ref).parts for ref in data.values() if isinstance(ref, str)] if isinstance(data, dict) else []
    return {_place(*ref) for ref in refs if len(ref) == 2}


def _place(folder, name):
    if folder == "theory":
        return "curves", name
    return (folder, name) if folder in SECTIONS else ("experiments", folder)
