"""What is read off the rules and environment files, against texts written for it and against packaging's rules."""

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from carryover.audit import rules
from carryover.audit.software import Software
from toy.small_project import ROOT

TEXT = """
rule curve:
    input:
        style="config/a.style",
        data=sweep.data("curve"),
    output:
        data="<results>/{curve}.nc",
    conda:
        "../envs/some.yaml"
    shell:
        "python scripts/curve.py {params.flags:q} --data {input.data} --style {input.style}"
        " --wildcards curve={wildcards.curve} --log-scale {log}.txt"
        " --output {output.data} > {log} 2>&1"


rule other:
    shell:
        "rm -r x"
"""
GOOD = (
    "scripts/curve.py relu --points 3 --data a.nc b.nc --style config/a.style"
    " --wildcards curve=c{x} --log-scale l.txt --output out.nc"
)


@pytest.fixture
def rule(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/a.smk").write_text(TEXT)
    found = rules.read(tmp_path / "rules")
    assert list(found) == ["curve"]
    return found["curve"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("", "", None),
        ("scripts/", "/home/me/scripts/", None),
        ("--data", "--date", "data was not given, now {input.data}"),
        ("a.style", "b.style", "style config/b.style, now config/a.style"),
        ("curve=c", "curve=d", "wildcards curve=d{x}, now curve=c{x}"),
        ("curve.py", "curves.py", "scripts/curves.py, now scripts/curve.py"),
        ("--log-scale l.txt --output out.nc", "--output out.nc --log-scale l.txt", "the same words in another order"),
    ],
)
def test_what_in_a_command_the_rule_gives_otherwise(rule, old, new, says):
    command = GOOD.replace(old, new) if old else GOOD
    assert rule.difference(command.split(), {"curve": "c{x}"}) == says


START, END = "python scripts/curve.py", "> {log} 2>&1"


def test_every_rule_of_the_project_that_makes_results_is_read():
    found = rules.read(ROOT / "rules")
    made = {"pretrain", "finetune", "measure", "collect", "curve", "compare", "check_claims", "figure", "table"}
    assert made <= found.keys()
    for name in made:
        assert (found[name].before, found[name].words[0], found[name].after) == ("python", f"scripts/{name}.py", END)
        assert (ROOT / found[name].environment).is_file()


def record(software, **versions):
    return {"python": "cpython 3.11.7", "conda": True, "versions": versions, "blas": []}


@pytest.fixture
def software(tmp_path):
    made = Software(tmp_path)
    made.python, made.versions, made.blas = "cpython 3.11.7", {}, []
    (tmp_path / "env.yaml").touch()
    return made


@pytest.mark.parametrize("version", ["2.13.1+cpu", "2.1", "2.130", "3.0rc1"])
@pytest.mark.parametrize("asked", ["=2.13", "==2.13", "<3,>=2.13", "~=2.1"])
def test_versions_are_compared_as_packaging_does(asked, version, software):
    (software.root / "env.yaml").write_text(f"dependencies:\n  - pytorch {asked} # why\n  - other\n")
    loose = f"={asked.removesuffix('.*')}.*" if asked.startswith("=2.") else asked
    fits = SpecifierSet(loose).contains(Version(version), prereleases=True)
    said = [] if fits else [f"torch {version}, and env.yaml asks for {asked}"]
    assert list(software.differences(record(software, torch=version), "env.yaml")) == said


def test_what_is_here_is_compared_with_both_versions_named(software):
    software.versions = {"numpy": "2.0", "xarray": "1.0"}
    software.blas = [{"library": "openblas", "version": "0.4"}, {"library": "mkl", "version": "1"}]
    then = record(software, numpy="1.9", xarray="1.0", absent="3") | {"python": "cpython 3.11.8"}
    then["blas"] = [{"library": "openblas", "version": "0.3"}, {"library": "openmp", "version": None}]
    said = ["cpython 3.11.8, now cpython 3.11.7", "numpy 1.9, now 2.0", "openblas 0.3, now 0.4"]
    assert list(software.differences(then, None)) == said
    software.blas.append({"library": "openblas", "version": "0.3"})  # another package has brought another
    assert list(software.differences(then, None)) == said[:2]
