"""The family of deep linear networks: what its runs are, which data they share, frozen layers, and what it refuses."""

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.families.deep_linear import pretrain, solvers
from carryover.streams import generator
from toy.deep_linear_descent import descend
from toy.shards import shard as trained

D, SEEDS = 12, [0, 1, 2]


def pretrained(seeds=SEEDS, **told):
    return trained("deep_linear", "pretrain", seeds, experiment="e", dimension=D, **told)


def finetuned(protocol, seeds=SEEDS, shard=None, **told):
    if protocol != "single_task" and shard is None:
        shard = pretrained(depth=told.get("depth", (2,)))
    told = {"dimension": D, "samples": (5,), **told}
    return trained("deep_linear", "finetune", seeds, shard, experiment="e", protocol=protocol, **told)


def inputs(seed, samples):
    return generator("e", {"samples": samples}, seed, "inputs").standard_normal((samples, D))


def labels(run):
    seed, samples = int(run["seed"]), int(run["samples"])
    noise = generator("e", {"samples": samples}, seed, "noise").standard_normal(samples)
    return inputs(seed, samples) @ run["teacher"].values.astype(float) + float(run["noise"]) * noise


def test_what_has_draws_of_its_own_is_independent_and_all_else_is_shared():
    """Functions of minimum norm tell data sets apart: runs share one where their angles and depths do not matter."""
    grid = {"angle": (0.1, 0.4), "noise": (0.1, 0.3), "depth": (1, 2)}

    def found(protocol, own, **told):
        return finetuned(protocol, own_draws=own, **{**grid, **told}, samples=(30,))

    for own in ((), ("noise",), ("depth", "noise"), ("depth", "angle", "noise")):
        data = found("single_task", own)
        # With as many samples as this the error is (X'X)⁻¹X'ε, in proportion to σ.
        noise = (data["coefficients"][:, 0] - data["teacher"]).values / data["noise"].values[:, None]
        kinds = list(zip(*(data[name].values for name in ("seed", *own)), strict=True))
        apart = np.abs(noise[:, None] - noise).max(2)
        same = np.array([[one == other for other in kinds] for one in kinds])
        assert apart[same].max() < 1e-5
        assert apart[~same].min() > 1e-3
        moved = found("finetuning", own)  # one solution fits more samples than dimensions, whatever its start
        np.testing.assert_allclose(moved["coefficients"], data["coefficients"], atol=1e-5)
        alone = found("single_task", own, angle=(0.4,), noise=(0.3,), depth=(2,))
        kept = (data["angle"] == 0.4) & (data["noise"] == 0.3) & (data["depth"] == 2)
        np.testing.assert_allclose(alone["coefficients"], data["coefficients"].values[kept], atol=1e-6)
    stretched = [finetuned("finetuning", relation="stretch", own_draws=own) for own in ((), ("angle",))]
    np.testing.assert_array_equal(*(found["coefficients"] for found in stretched))  # which have no angle


def test_linear_transfer_is_regression_on_the_source():
    found, shard = finetuned("linear_transfer", ridge=(0.0, 0.5)), pretrained()
    for r in range(found.sizes["run"]):
        run = found.isel(run=r)
        source = shard["coefficients"].values[int(run["seed"]), 0]
        z = inputs(int(run["seed"]), 5) @ source
        expected = z @ labels(run) / (z @ z + 5 * float(run["ridge"])) * source
        np.testing.assert_allclose(run["coefficients"].values[0], expected, atol=1e-5)


def test_a_readout_keeps_what_its_data_do_not_see_of_features_that_are_many():
    told = {"solver": "descent", "initial_scale": 0.3, "learning_rate": 0.05, "max_steps": 20000, "tolerance": 1e-20}
    shard = pretrained(precision="float64", **told)
    solved = finetuned("linear_transfer", shard=shard, truncation=0.0)
    told = {"solver": "descent", "learning_rate": 0.05, "tolerance": 1e-20, "max_steps": 100_000}
    trained = finetuned("linear_transfer", shard=shard, precision="float64", **told)
    np.testing.assert_allclose(trained["coefficients"], solved["coefficients"], atol=1e-4)


@pytest.mark.parametrize("solver", ["exact", "descent"])
def test_networks_of_several_initial_scales_are_those_that_have_each_alone(solver):
    told = {"solver": "descent", "learning_rate": 0.05, "max_steps": 2000, "tolerance": 1e-10}
    small, large, both = (pretrained(initial_scale=scales, **told) for scales in (0.01, 0.3, (0.01, 0.3)))
    readout = told if solver == "descent" else {"truncation": 0.0}
    *alone, found = (finetuned("linear_transfer", shard=shard, **readout) for shard in (small, large, both))
    for scale, one in zip((0.01, 0.3), alone, strict=True):
        assert set(one["pretrain_scale"].values) == {scale}
        for name in ("coefficients", "feature_share"):
            same = found[name].isel(run=(found["pretrain_scale"] == scale).values)
            np.testing.assert_allclose(same, one[name], rtol=1e-4, atol=1e-6)


def test_targets_differ_from_the_source_as_their_relation_says():
    told = {"leading": 4, "leading_eigenvalue": 2.0, "source_norm": (1.0, 3.0), "deviation": (0.5,)}
    shard = pretrained(leading=4, leading_eigenvalue=2.0, source_norm=(1.0, 3.0))
    for relation in ("leading", "trailing", "stretch"):
        more = {"stretch": (2.0,)} if relation == "stretch" else {}
        found = finetuned("finetuning", shard=shard, relation=relation, **told, **more)
        for r in range(found.sizes["run"]):
            run, norm = found.isel(run=r), float(found["source_norm"][r])
            source, _ = pretrain.directions(generator("e", "", int(run["seed"]), "teacher"), D)
            rest = run["teacher"].values / norm - (2.0 if relation == "stretch" else 1.0) * source
            if relation == "stretch":
                assert 0.1 < np.linalg.norm(rest) < 1.0
            else:
                inside, outside = (rest[:4], rest[4:]) if relation == "leading" else (rest[4:], rest[:4])
                assert np.linalg.norm(inside) == pytest.approx(0.5, rel=1e-5)
                np.testing.assert_allclose(outside, 0, atol=1e-6)


def test_covariance_is_that_of_inputs_and_of_the_risk():
    told = {"leading": 4, "leading_eigenvalue": 9.0, "eigenvalue": 0.25}
    found = finetuned("single_task", samples=(30,), noise=(0.5,), **told)
    spectrum = np.repeat([9.0, 0.25], [4, D - 4])
    for r in range(found.sizes["run"]):
        run = found.isel(run=r)
        X = inputs(int(run["seed"]), 30) * np.sqrt(spectrum)
        noise = generator("e", {"samples": 30}, int(run["seed"]), "noise").standard_normal(30)
        beta = np.linalg.lstsq(X, X @ run["teacher"].values.astype(float) + 0.5 * noise)[0]
        np.testing.assert_allclose(run["coefficients"].values[0], beta, atol=1e-4)
        expected = (spectrum * (beta - run["teacher"].values) ** 2).sum()
        assert float(run["risk_final"]) == pytest.approx(expected, rel=1e-4)
    trained = {"solver": "descent", "learning_rate": 0.02, "max_steps": 20000, "tolerance": 1e-9, "initial_scale": 1e-3}
    simulated = finetuned("single_task", samples=(30,), noise=(0.5,), **told, **trained)
    np.testing.assert_allclose(simulated["risk_final"], found["risk_final"], rtol=1e-2)


def test_validation_is_the_error_on_samples_that_were_held_out():
    found = finetuned("single_task", samples=(8,), noise=(0.5,), folds=4)
    for r in range(found.sizes["run"]):
        run = found.isel(run=r)
        X, y = inputs(int(run["seed"]), 8), labels(run)
        squares = 0.0
        for held in np.arange(8).reshape(4, 2):
            rest = np.setdiff1d(np.arange(8), held)
            squares += ((X[held] @ np.linalg.pinv(X[rest]) @ y[rest] - y[held]) ** 2).sum()
        assert float(run["validation_loss"]) == pytest.approx(squares / 8, rel=1e-5)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"protocol": "single_task", "weight_decay": (0.1,), "depth": (3,)}, "exact limit at depth 2 alone"),
        ({"protocol": "linear_transfer", "trained_layers": (1, 3)}, "trained_layers has 3, but depth only 2"),
        ({"protocol": "single_task", "folds": 9}, "from 2 to the smallest number of samples"),
        (
            {"protocol": "single_task", "relation": "leading"},
            "leading needs leading from 1 to below dimension",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(told, says):
    with pytest.raises(UserError, match=says):
        finetuned(**told)


@pytest.mark.parametrize("frozen", [1, 2])
def test_layers_behind_frozen_ones_are_trained_as_a_loop_over_all_matrices_trains_them(frozen):
    told = {"solver": "descent", "initial_scale": 0.3, "learning_rate": 0.05, "max_steps": 300, "precision": "float64"}
    shard = pretrained(depth=(3,), **told)
    told |= {"trained_layers": (3 - frozen,), "samples": (5, 30), "tolerance": 1e-300, "max_steps": 40}
    found = finetuned("linear_transfer", shard=shard, depth=(3,), **told)
    assert set(found["frozen"].values) == {frozen}
    for r in range(found.sizes["run"]):
        run, network = found.isel(run=r), shard.isel(run=int(found["seed"][r]))
        layers = [*network["hidden"].values.astype(float), network["readout"].values.astype(float)[:, None]]
        X = inputs(int(run["seed"]), int(run["samples"]))
        expected = descend(layers, X, labels(run), 0.05, 40, frozen)
        np.testing.assert_allclose(run["coefficients"].values[0], expected, rtol=1e-5, atol=1e-6)
        risk = ((expected - run["teacher"].values) ** 2).sum()
        assert float(run["risk_final"]) == pytest.approx(risk, rel=1e-5)


def test_behind_frozen_layers_of_one_feature_is_left_a_multiple_of_the_source():
    """Theorem 5.5: the best multiple, but that several layers that learn cannot change its sign and stop at 0."""
    told = {"depth": (3,), "trained_layers": (1, 2), "angle": (0.25, 0.75), "noise": (0.0,), "samples": (20,)}
    shard, steps = pretrained(depth=(3,)), {"learning_rate": 0.02, "max_steps": 20000, "tolerance": 1e-14}
    steps |= {"solver": "descent", "precision": "float64"}
    both = [finetuned("linear_transfer", shard=shard, **told, **more) for more in ({}, steps)]
    assert both[1]["converged"].values[(both[1]["angle"] < 0.5) | (both[1]["frozen"] == 2)].all()
    for found in both:
        for r in range(found.sizes["run"]):
            run = found.isel(run=r)
            source = shard["coefficients"].values[int(run["seed"]), 0]
            z = inputs(int(run["seed"]), 20) @ source
            best = z @ labels(run) / (z @ z)
            assert (best > 0) == (run["angle"] < 0.5)
            expected = best if run["frozen"] == 2 else max(best, 0.0)
            np.testing.assert_allclose(run["coefficients"].values[0], expected * source, atol=2e-3)


def test_no_network_whose_risk_is_no_number_counts_as_converged(monkeypatch):
    exact = solvers.exact

    def overflowed(problem, p):
        solved = exact(problem, p)
        solved.risk_final[1] = np.inf
        return solved

    monkeypatch.setattr(solvers, "exact", overflowed)
    with pytest.raises(UserError, match=r"the risk is no finite number .* converged, in 1 run: .*noise 0\.5"):
        finetuned("single_task", [3], noise=(0.2, 0.5))
