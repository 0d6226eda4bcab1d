"""Environment files against the locks of pip: what runs under conda is what is tested under pip.

Conda's solver finds them in a channel that has the locked packages, with what each says that it requires.
"""

import asyncio
import importlib.metadata
import json
import re

import pytest
import rattler
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from toy.small_project import ROOT

FILES = sorted(path.name for path in ROOT.glob("envs/*.yaml"))
IN_CONDA = {"torch": "pytorch"}


def lines(file):
    """The requirements in a file of pip's, without comments, markers and hashes."""
    lines = (re.split(r"[#;\\]", line)[0].strip() for line in (ROOT / "envs" / file).read_text().splitlines())
    return [line for line in lines if line and not line.startswith("--hash")]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def lock(*files):
    pairs = (line.split("==") for file in files or ("requirements.lock", "torch.txt") for line in lines(file))
    return {normal(name): version for name, version in pairs}


@pytest.fixture(scope="module")
def channel(tmp_path_factory):
    """A channel of conda with the locked packages that are installed here, and Python."""
    environment, packages = default_environment() | {"extra": ""}, {}
    locked = {name: version for name, version in lock().items() if installed(name)}
    for name, version in (locked | {"python": "3.11.9"}).items():
        requires = map(Requirement, (installed(name).requires or []) if name in locked else [])
        needed = [one for one in requires if one.marker is None or one.marker.evaluate(environment)]
        name, in_conda = IN_CONDA.get(name, name), [normal(one.name) for one in needed]
        packages[f"{name}-{version}-0.conda"] = {
            "name": name, "version": version, "build": "0", "build_number": 0, "subdir": "noarch",
            "depends": [f"{IN_CONDA.get(other, other)} {one.specifier}".strip()
                        for other, one in zip(in_conda, needed, strict=True)],
        }  # fmt: skip
    place = tmp_path_factory.mktemp("channel")
    (place / "noarch").mkdir()
    about = {"info": {"subdir": "noarch"}, "packages": {}, "packages.conda": packages}
    (place / "noarch/repodata.json").write_text(json.dumps(about))
    return rattler.Channel(place.as_uri())


def installed(name):
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@pytest.mark.parametrize("file", FILES)
def test_an_environment_is_solved_to_the_versions_of_the_lock(file, channel):
    asked = yaml.safe_load((ROOT / "envs" / file).read_text())["dependencies"]
    specs = [rattler.MatchSpec(one) for one in asked]
    assert all(spec.version for spec in specs), f"{file}: a package has no version"
    found = asyncio.run(rattler.solve([channel], specs, platforms=["noarch"]))
    versions = {record.name.normalized: str(record.version) for record in found}
    locked = {IN_CONDA.get(name, name): version for name, version in lock().items()}
    assert {spec.name.normalized for spec in specs} <= versions.keys()
    assert {name: locked.get(name, versions["python"]) for name in versions} == versions


def test_the_two_locks_have_what_is_asked_for_and_agree():
    main, tests = lock(), lock("tests.lock")
    assert {name: tests[name] for name in main.keys() & tests} == {name: main[name] for name in main.keys() & tests}
    for file, locked in (("requirements.in", main), ("tests.in", tests)):
        for name, limits in (re.match(r"([\w-]+)(.*)", line).groups() for line in lines(file)):
            assert SpecifierSet(limits.strip()).contains(locked[normal(name)]), f"{file}: {name}"
