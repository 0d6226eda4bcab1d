"""The software of a record against the software here, and against what the project's environment files ask for."""

import re
from functools import cache
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion

from carryover.audit import packages
from carryover.errors import UserError
from carryover.provenance import environment

LOCK = "envs/lock.txt"
_DISTRIBUTIONS = {"pytorch": "torch"}  # what conda calls otherwise


class Software:
    """The software here, and the files below `root` that ask for it; `versions` is {package: version} here.

    `edited` and `without_hashes` are what `packages.compare` says of those that a job loaded, and `forged` the modules
    below `scripts/` whose bytecode is not theirs: nothing before `look`.
    """

    edited, without_hashes, forged = {}, (), frozenset()

    def __init__(self, root):
        self.root, self.versions = Path(root), environment.installed_versions()
        here = environment.environment()
        self.python, self.blas = here["python"], here["blas"]
        self._asked = cache(self._read)

    def look(self, names, threads=None):
        """Compare the files of those of these packages that are here, and the bytecode of the project's own modules."""
        self.edited, self.without_hashes = packages.compare(names & self.versions.keys(), threads)
        scripts = self.root / "scripts"
        sources = filter(packages.forged_bytecode, scripts.rglob("*.py"))
        self.forged = {source.relative_to(scripts).as_posix() for source in sources}

    def differences(self, record, file):
        """Sentences, with both versions, on what is here and not as an `environment` of a record has it.

        `file` is the conda environment of the record's rule. It asks for something where the job ran in a conda
        environment, and envs/lock.txt asks elsewhere. Packages that are not installed here are not compared.
        """
        if record["python"] != self.python:
            yield f"{record['python']}, now {self.python}"
        for name, version in record["versions"].items():
            if self.versions.get(name, version) != version:
                yield f"{name} {version}, now {self.versions[name]}"
        yield from (text for name, text in self.edited.items() if name in record["versions"])
        for library in sorted({blas["library"] for blas in self.blas} & {blas["library"] for blas in record["blas"]}):
            then, now = (
                [str(b["version"]) for b in blas if b["library"] == library] for blas in (record["blas"], self.blas)
            )
            if not set(then) & set(now):  # more of them may be loaded here
                yield f"{library} {' '.join(then)}, now {' '.join(now)}"
        file = file if record.get("conda") else LOCK
        versions = {"python": record["python"].split()[-1], **record["versions"]}
        for name, asked in (self._asked(file) if file else {}).items():
            if name in versions and not _fits(asked, versions[name]):
                yield f"{name} {versions[name]}, and {file} asks for {asked}"

    def _read(self, file):
        """{package: version that a file asks for} of the packages for which it asks for one."""
        asked = {}
        lines = (self.root / file).read_text().splitlines() if (self.root / file).is_file() else []
        for line in lines:
            entry = re.fullmatch(r"(?: +- )?([A-Za-z][\w.-]*) *([=<>!~][^#;]*?) *(?:[#;].*)?", line)
            if entry:
                name = entry[1].replace("_", "-").lower()
                asked[_DISTRIBUTIONS.get(name, name)] = entry[2]
                try:
                    _fits(entry[2], "1.0")
                except InvalidSpecifier:
                    raise UserError(f"{file}: {entry[2]} after {entry[1]} is no version that can be read") from None
        return asked


@cache
def _fits(asked, version):
    """Whether a version is what a specifier asks for; conda's = (2.13 of any kind) is ==2.13.* elsewhere."""
    specifier = re.sub(r"(?<![=<>!~])=(?!=)\s*([\w.]+?)(\.\*)?(?=,|$)", r"==\1.*", asked)
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidVersion:
        return True  # of a package that numbers its versions its own way nothing can be said
