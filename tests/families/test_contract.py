"""Every family keeps the contract, and so does the toy, which is a folder."""

import inspect
import sys
from functools import cache
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import xarray as xr

from carryover import families
from carryover.config import plugins
from carryover.config.parameters import parameter_schema
from carryover.config.plugins import model_of
from carryover.errors import UserError
from carryover.families import stages
from carryover.provenance import job_record, store
from rounding import assert_alike

TOY = Path(__file__).parents[1] / "toy/families/toy"
FAMILIES = (*plugins.names("families"), TOY.name)
# One process tests a family, and trains it once.
STAGES = [pytest.param(family, stage, marks=pytest.mark.xdist_group(f"contract {family}"))
          for family in FAMILIES for stage in ("pretrain", "finetune")]  # fmt: skip
SEEDS = (2, 5)
# Whatever a family calls so is that small.
TINY = {"dimension": 8, "width": 4, "samples": 6, "auxiliary_features": 3, "auxiliary_samples": 8, "main_features": 2,
        "teacher_units": 4, "draws": 2, "pairs": 2, "tasks": 1, "max_networks_per_batch": 1, "max_steps": 30,
        "max_epochs": 1, "budget": 2, "drawn": 0, "tolerance": 0.01, "initial_scale": 0.1, "device": "cpu"}  # fmt: skip
TRAINED = {"loss", "evaluations", "converged", "risk_final", "risk_best"}


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    """The toy is found beside the families of the library."""
    monkeypatch.setattr(families, "__path__", [*families.__path__, str(TOY.parent)])
    yield TOY.name
    for name in [name for name in sys.modules if name.startswith(f"carryover.families.{TOY.name}")]:
        del sys.modules[name]


def choices(family, name, axis):
    return get_args(model_of(f"families.{family}", name).model_fields[axis].annotation)


def parameters(family, name, **told):
    """The stage's own defaults, but small."""
    model = model_of(f"families.{family}", name)
    small = TINY | ({"samples": 16} if family == "published" else {})  # nobody published fewer
    return model(**{key: value for key, value in small.items() if key in model.model_fields} | told)


def test_a_family_takes_less_than_120_lines():
    assert sum(len(path.read_text().splitlines()) for path in TOY.glob("*.py")) < 120


@pytest.mark.parametrize(("family", "name"), STAGES)
def test_a_stage_offers_what_the_contract_says(family, name):
    model = model_of(f"families.{family}", name)
    assert issubclass(model, model_of(f"families.{family}", "task"))
    assert all(field.description for field in model.model_fields.values())
    assert list(inspect.signature(stages.stage(model())).parameters) == ["p", "shard"]
    for axis in ("solver", "protocol")[: 1 + (name == "finetune")]:
        assert parameter_schema(model)[axis]["axis"]
        assert model.model_fields[axis].default in choices(family, name, axis)
    for axis, values in model.STARTS_FROM.items():
        assert set(values) <= set(choices(family, name, axis))
    for choice in choices(family, name, "solver"):
        p = model.model_construct(solver=choice)
        assert list(inspect.signature(stages.solver(p)).parameters) == ["problem", "p"]
        assert stages.portable(p) in job_record.PORTABLE


@cache
def shards(family, name, seeds=SEEDS):
    """{(protocol, solver): dataset, or the sentence by which it was refused} of everything that the stage can do."""
    made = {}
    protocols = choices(family, name, "protocol") if name == "finetune" else (None,)
    for protocol, solver in product(protocols, choices(family, name, "solver")):
        start = None
        if protocol in model_of(f"families.{family}", name).STARTS_FROM.get("protocol", ()):
            start = next(data for data in shards(family, "pretrain", seeds).values() if isinstance(data, xr.Dataset))
        try:
            p = parameters(family, name, solver=solver, **({"protocol": protocol} if protocol else {}))
            data = stages.run(p, "toy", list(seeds), start)
        except UserError as refusal:
            data = str(refusal)
        made[protocol, solver] = data
    return made


def names_a_file(family, name, solver):
    """Whether a solver is one of files from outside."""
    model = model_of(f"families.{family}", name)
    paths = [about for about in parameter_schema(model).values() if about["path"]]
    return any(solver in about["when"].get("solver", ()) for about in paths)


@pytest.mark.parametrize(("family", "name"), STAGES)
def test_every_protocol_and_solver_gives_a_dataset_that_says_what_its_runs_were(family, name, tmp_path):
    made = shards(family, name)
    done = {key: data for key, data in made.items() if isinstance(data, xr.Dataset)}
    assert {protocol for protocol, _ in done} == {protocol for protocol, _ in made}, made
    solvers = {solver for _, solver in made if not names_a_file(family, name, solver)}
    assert {solver for _, solver in done} == solvers, made
    for (protocol, solver), data in done.items():
        starts = protocol in model_of(f"families.{family}", name).STARTS_FROM.get("protocol", ())
        said = {"protocol": protocol, "solver": solver} if protocol else {"pretrain_solver": solver}
        assert {coordinate: set(data[coordinate].values) for coordinate in said} == {k: {v} for k, v in said.items()}
        assert set(data["seed"].values) == set(SEEDS)
        assert ("pretrain_solver" in data.coords) == (starts or name == "pretrain")
        columns = [c for c in data.coords if data[c].dims == ("run",)]
        assert not data[columns].reset_coords().to_dataframe().duplicated().any()
        assert all(data[variable].attrs.keys() >= {"long_name", "units"} for variable in data.variables)
        if name == "finetune":
            assert data.data_vars.keys() >= TRAINED
            assert np.isfinite(data["risk_final"]).all()
            assert "loss_function" in data.coords
        store.save(data, tmp_path / "shard.nc")
        assert store.load(tmp_path / "shard.nc").identical(data)


@pytest.mark.portable
@pytest.mark.parametrize(("family", "name"), STAGES)
def test_a_run_is_the_same_alone_as_in_a_block(family, name):
    """To what rounding makes of sums in another order: a run draws from generators of its own."""
    for key, block in shards(family, name).items():
        alone = shards(family, name, SEEDS[1:])[key]
        if isinstance(block, str):
            assert alone == block
            continue
        part = block.isel(run=block["seed"].values == SEEDS[1])
        assert alone.coords.to_dataset().identical(part.coords.to_dataset()), key
        for variable in part.data_vars:
            if "run" in part[variable].dims:
                assert_alike(alone[variable], part[variable], 1e-4, f"{key} {variable}")
