"""Environment files against the locks of pip: what runs under conda is what is tested under pip."""

import re

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from toy.small_project import ROOT

FILES = sorted(path.name for path in ROOT.glob("envs/*.yaml"))
ON_PYPI = {"pytorch": "torch"}


def lines(file):
    """The requirements in a file of pip's, without comments, markers and hashes."""
    lines = (re.split(r"[#;\\]", line)[0].strip() for line in (ROOT / "envs" / file).read_text().splitlines())
    return [line for line in lines if line and not line.startswith("--hash")]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def lock(*files):
    pairs = (line.split("==") for file in files or ("requirements.lock", "torch.txt") for line in lines(file))
    return {normal(name): version for name, version in pairs}


def listed(file):
    """{name on PyPI: version or limits} of an environment file."""
    entries = yaml.safe_load((ROOT / "envs" / file).read_text())["dependencies"]
    parts = [re.fullmatch(r"([\w.-]+)\s*(.*)", entry).groups() for entry in entries]
    return {ON_PYPI.get(name, name): limits for name, limits in parts}


def satisfies(version, limits):
    """Whether a version keeps conda's limits; =1.2 is any 1.2 there, as ==1.2.* elsewhere."""
    fuzzy = re.fullmatch(r"=(?!=)([\w.]+?)(?:\.\*)?", limits)
    return SpecifierSet(f"=={fuzzy[1]}.*" if fuzzy else limits).contains(version, prereleases=True)


@pytest.mark.parametrize("file", FILES)
def test_an_environment_has_the_versions_of_the_lock(file):
    locked = lock()
    for name, limits in listed(file).items():
        assert limits, f"{file}: {name} has no version"
        if name != "python":
            assert satisfies(locked[name], limits), f"{file}: {name}{limits}, but the lock has {locked[name]}"


def test_the_two_locks_have_what_is_asked_for_and_agree():
    main, tests = lock(), lock("tests.lock")
    assert {name: tests[name] for name in main.keys() & tests} == {name: main[name] for name in main.keys() & tests}
    for file, locked in (("requirements.in", main), ("tests.in", tests)):
        for name, limits in (re.match(r"([\w-]+)(.*)", line).groups() for line in lines(file)):
            assert SpecifierSet(limits.strip()).contains(locked[normal(name)]), f"{file}: {name}"
