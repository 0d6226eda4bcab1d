"""`papers-check` on a small archive: it agrees with the code that made it, and not with other steps or accuracies."""

import functools
import hashlib

import pytest
import yaml

import papers_check
from carryover import archive
from carryover.families.diagonal import solvers as diagonal
from carryover.families.diagonal.parameters import Finetune
from carryover.families.relu import solvers as relu
from carryover.provenance import store
from carryover.workflow import collecting, startup
from toy.small_project import ROOT, TINY

pytestmark = pytest.mark.extended

RELU = {
    "family": "relu",
    "seeds": 4,
    "block": 2,
    "task": {"dimension": 6, "width": 8, "auxiliary_features": 2},
    "measures": {"risk": {}},
}
MAIN = {"samples": [8, 16], "main_features": [1, 2], "overlap": 1.0}
PROTOCOLS = {"protocol": ["single_task", "finetuning"]}
EXPERIMENTS = {
    "diagonals": TINY["experiments"]["tiny"] | {"seeds": 3, "measures": {"risk": {}}, "split": []},
    "descended": {
        **RELU,
        "pretrain": {"solver": "descent", "learning_rate": 0.1, "samples": 16, "max_epochs": 30},
        "finetune": {**MAIN, **PROTOCOLS, "solver": "descent", "learning_rate": 0.1, "batch_size": 4,
                     "tolerance": 1.0e-2, "max_epochs": 300},
    },
    "followed": {
        **RELU,
        "pretrain": {"solver": "flow", "samples": 16, "tolerance": 1.0e-4},
        "finetune": {**MAIN, **PROTOCOLS, "solver": "flow", "tolerance": 1.0e-4},
    },
}  # fmt: skip


def trained(sweep, experiment):
    """The risk of an experiment, its blocks trained whole, as the workflow trains them."""
    parts = []
    for point in sweep.points(experiment, "finetune").values():
        posed = [one.parameters for one in (point.source, point) if one]
        for seeds in sweep.blocks(experiment).values():
            run = papers_check.Run(tuple(seeds), posed, 0.0)
            parts.append(papers_check.retrain(sweep, experiment, "risk", run))
    return collecting.collect(parts)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with a configuration and its archive of 3 experiments."""
    made = tmp_path_factory.mktemp("archived")
    config = {"archive": str(made / "archive/small"), "experiments": EXPERIMENTS}
    (made / "config.yaml").write_text(yaml.safe_dump(config))
    sweep = startup.Sweep(startup.configuration([made / "config.yaml"]), ROOT)
    for experiment in EXPERIMENTS:
        store.save(trained(sweep, experiment), made / "risk.nc")
        content = (made / "risk.nc").read_bytes()
        known = {"request": archive.request(sweep, experiment, "risk"), "commit": "0", "versions": {}, "seconds": {},
                 "unpacked": {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}}  # fmt: skip
        archive.save(made / "archive/small", known, content)
    (made / "archive/bands.yaml").write_text(yaml.safe_dump({"small": {"descended": {}, "followed": {}}}))
    return made


def flags(folder):
    return ["--configfile", str(folder / "config.yaml"), "--seed", "1"]


def check(folder):
    return papers_check.main([*flags(folder), "--seconds", "20"])


def test_the_code_that_made_an_archive_agrees_with_it(folder, capsys):
    assert check(folder)
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said[1:-1]] == sorted(EXPERIMENTS)
    assert all(line.endswith(" agrees") for line in said[1:-1])


@pytest.mark.parametrize(
    ("solvers", "name", "setting", "factor", "experiment"),
    [
        (diagonal, "gradient_descent", "learning_rate", 2, "diagonals"),
        (relu, "gradient_descent", "learning_rate", 2, "descended"),
        (relu, "gradient_flow", "accuracy", 3, "followed"),
    ],
)
def test_other_steps_and_accuracies_disagree(folder, monkeypatch, capsys, solvers, name, setting, factor, experiment):
    solve = getattr(solvers, name)

    @functools.wraps(solve)
    def changed(*data, **settings):
        return solve(*data, **settings | {setting: factor * settings[setting]})

    monkeypatch.setattr(solvers, name, changed)
    assert not check(folder)
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said if line.endswith("DISAGREES")] == [experiment]
    assert any(line.startswith(f"{experiment}, ") and "seed=" in line and "log differs by" in line for line in said)


def test_a_pinned_family_comes_first_and_expires_where_it_disagrees(folder, monkeypatch, capsys):
    monkeypatch.setattr(Finetune, "VERSION", "mine")
    descend = diagonal.gradient_descent
    faster = functools.wraps(descend)(lambda *a, **kw: descend(*a, **kw | {"learning_rate": 2 * kw["learning_rate"]}))
    monkeypatch.setattr(diagonal, "gradient_descent", faster)
    assert not check(folder)
    said = capsys.readouterr().out.splitlines()
    assert said[1].split()[0] == "diagonals"
    assert said[-1] == "Version mine of finetune, diagonal has expired: declare another one."


def test_what_is_superseded_or_has_no_bands_is_named_with_its_reason_and_not_compared(folder, monkeypatch, capsys):
    superseded, bands = (folder / f"archive/{name}.yaml" for name in ("superseded", "bands"))
    measured = bands.read_text()
    superseded.write_text(yaml.safe_dump({"small": {"followed": "steps at kinks were mended"}}))
    bands.write_text(yaml.safe_dump({"small": {"followed": {}}}))
    monkeypatch.setattr(relu, "gradient_flow", None)
    monkeypatch.setattr(relu, "gradient_descent", None)
    try:
        assert check(folder)
    finally:
        superseded.unlink()
        bands.write_text(measured)
    said = capsys.readouterr().out
    assert "superseded: steps at kinks were mended" in said
    assert "descended                not compared: its training enlarges rounding" in said
