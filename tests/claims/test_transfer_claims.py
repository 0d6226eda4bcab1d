"""Claims about transfer between linear tasks hold, fail or stay open as the runs that they are about say."""

import numpy as np
import pytest

from carryover.claims import dataset_distances, linear_finetuning, linear_limit, linear_transfer
from carryover.errors import UserError
from carryover.provenance import store
from toy.linear_runs import BOUNDARY, MADE, distant, finetuning, limits, transfer
from toy.made_up_runs import SEEDS

# {effect: {module: {claim: its verdict, where it is not that of the others}}}
OTHERWISE = {
    # Where the angle moves away from π/3, as the norm factor says, the paper's π/3 fails.
    1.0: {linear_finetuning: {"third_noisy": "fails"}},
    -1.0: {linear_finetuning: {"moved": "holds", "third_noisy": "holds"}},
    0.0: {linear_finetuning: {"moved": "holds"}},
}


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
@pytest.mark.parametrize("module", MADE, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_claim_follows_its_effect(module, effect, verdict, tmp_path):
    checked = module.check(MADE[module](effect), module.Parameters())
    found = checked["verdict"].to_series().to_dict()
    assert found == dict.fromkeys(found, verdict) | OTHERWISE[effect].get(module, {})
    assert (checked["seeds"] == len(SEEDS)).all()
    store.save(checked, tmp_path / "claims.nc")


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [("features", set()), ("distance", {"not_kl", "not_wasserstein", "same_features"}), ("opposite", {"monotone"})],
)
def test_distances_predict_transfer_where_gains_follow_them(kind, wrong):
    checked = dataset_distances.check(distant(kind), dataset_distances.Parameters()).to_dataframe()
    assert set(checked.index[checked["verdict"] == "fails"]) == wrong
    assert set(checked.index[checked["verdict"] == "holds"]) == set(checked.index) - wrong
    correlations = {"distance": -1.0, "opposite": 1.0}
    if kind in correlations:
        assert checked.loc["not_kl", "statistic"] == pytest.approx(correlations[kind])


def test_without_the_targets_opposite_to_the_source_their_gain_is_open():
    checked = dataset_distances.check(distant("features", farthest=0.75), dataset_distances.Parameters())
    assert checked["verdict"].sel(claim="same_features") == "undecided"
    assert checked["seeds"].sel(claim="same_features") == 0


def changed(data, role, change, **condition):
    """The data of a claim with the risks of a role's runs at a condition changed."""
    runs = data[role]
    keep = np.logical_and.reduce([runs[name].values == value for name, value in condition.items()])
    assert keep.any()
    return data | {role: runs.assign(risk_final=runs["risk_final"].where(~keep, change(runs["risk_final"])))}


AT_ONE = {"gamma": 0.98, "angle": 0.5, "protocol": "single_task"}
RIDGE = {"angle": 0.375}
ONE_FAILS = [
    # claims that fail, role, change of its risks, condition of the runs at which they change
    ({"negative", "signs"}, "diagram", lambda risk: risk - 5, {"protocol": "linear_transfer", "gamma": 0.75}),
    ({"positive", "signs"}, "diagram", lambda risk: risk + 5, {"protocol": "linear_transfer", "gamma": 0.25}),
    ({"ridge_hurts"}, "ridge", lambda risk: risk - 5, RIDGE | {"samples": 300, "ridge": 0.1}),
    (set(), "ridge", lambda risk: risk - 5, RIDGE | {"samples": 300, "ridge": 0.01}),
    (set(), "ridge", lambda risk: risk - 5, {"angle": 0.25}),
    ({"anomalous"}, "decay", lambda risk: risk - 5, AT_ONE | {"weight_decay": 0.0}),
    ({"regularised"}, "decay", lambda risk: risk + 5, AT_ONE | {"weight_decay": 0.1}),
    (set(), "decay", lambda risk: risk + 5, AT_ONE | {"weight_decay": 1.0}),
]


@pytest.mark.parametrize(("claims", "role", "change", "condition"), ONE_FAILS)
def test_the_runs_that_a_claim_is_about_decide_it(claims, role, change, condition):
    data = changed(transfer(1.0), role, change, **condition)
    checked = linear_transfer.check(data, linear_transfer.Parameters()).to_dataframe()
    assert set(checked.index[checked["verdict"] == "fails"]) == claims


def test_finetuning_stops_to_help_where_its_runs_say():
    def check(**told):
        return linear_finetuning.check(finetuning(1.0, **told), linear_finetuning.Parameters()).to_dataframe()

    moved = check()
    assert f"of the {BOUNDARY:.3f} π" in moved.loc["noisy", "statement"]
    assert moved.loc["moved", "statistic"] == pytest.approx(1 / 3 - BOUNDARY)
    assert moved.loc["quiet", "statistic"] == pytest.approx(linear_finetuning.Parameters().near)
    unmoved = check(moved=1 / 3 - BOUNDARY + 0.01)
    assert set(unmoved.index[unmoved["verdict"] == "fails"]) == {"noisy", "moved"}
    assert check(moved=0.005)["verdict"].to_dict() == moved["verdict"].to_dict()
    assert check(moved=0.04).loc["noisy", "verdict"] == "fails"


def test_the_norm_factor_is_asked_of_simulated_deep_networks_with_few_samples():
    data = finetuning(1.0)
    for condition in ({"solver": "exact"}, {"depth": 1}, {"gamma": 1.5}):
        altered = changed(data, "simulated", lambda risk: risk + 9, protocol="finetuning", **condition)
        statistics = [
            linear_finetuning.check(runs, linear_finetuning.Parameters())["statistic"].sel(claim="norm_factor")
            for runs in (data, altered)
        ]
        assert statistics[0] == statistics[1] == pytest.approx(0.25**2 * 1.0)


def test_distances_from_the_limit_are_those_of_converged_networks_in_decades():
    checked = linear_limit.check(limits(1.0), linear_limit.Parameters(near=1e-2))
    for solver in ("descent", "balanced"):
        assert float(checked["statistic"].sel(claim=solver)) == pytest.approx(2.0)
    data = limits(1.0)
    everything = data | {"risk": data["risk"].assign(converged=("run", np.ones(data["risk"].sizes["run"])))}
    verdicts = linear_limit.check(everything, linear_limit.Parameters())["verdict"].to_series()
    assert set(verdicts.index[verdicts == "fails"]) == {"descent", "balanced"}


def test_missing_runs_are_named_in_a_sentence():
    data = transfer(1.0)
    runs = data["diagram"]
    alone = data | {"diagram": runs.isel(run=runs["protocol"].values == "single_task")}
    with pytest.raises(UserError, match=r"^there are no runs of the protocol linear_transfer.*\.$"):
        linear_transfer.check(alone, linear_transfer.Parameters())
    with pytest.raises(UserError, match=r"^this claim needs ridge 0.3 .*there is only ridge 0, 0.01, 0.1, 0.6\.$"):
        linear_transfer.check(data, linear_transfer.Parameters(ridge=0.3))
    blunt = data | {"ridge": data["ridge"].isel(run=data["ridge"]["angle"].values == 0.5)}
    with pytest.raises(UserError, match=r"^this claim needs an angle below 0.5 of the role ridge"):
        linear_transfer.check(blunt, linear_transfer.Parameters())
    far = data | {"decay": data["decay"].isel(run=data["decay"]["gamma"].values == 0.5)}
    with pytest.raises(UserError, match=r"^this claim needs runs of gamma near 1; the nearest have 0.5\.$"):
        linear_transfer.check(far, linear_transfer.Parameters())
    distances = distant("features")
    elsewhere = distances | {"distances": distances["distances"].sel(angle=[0.0, 1.0])}
    with pytest.raises(UserError, match=r"^the theory was not computed at angle .*; it has 0, 1\.$"):
        dataset_distances.check(elsewhere, dataset_distances.Parameters())


def test_a_sign_that_never_changes_leaves_its_angle_open():
    data = finetuning(1.0)
    few = data | {"diagram": data["diagram"].isel(run=data["diagram"]["angle"].values < 0.25)}
    checked = linear_finetuning.check(few, linear_finetuning.Parameters())
    assert checked["verdict"].sel(claim=["quiet", "noisy", "moved"]).values.tolist() == ["undecided"] * 3


def test_what_has_not_converged_says_nothing_of_the_limit():
    data = limits(1.0)
    none = data | {
        "risk": data["risk"].assign(converged=data["risk"]["converged"] & (data["risk"]["solver"] == "exact"))
    }
    checked = linear_limit.check(none, linear_limit.Parameters())
    assert checked["verdict"].sel(claim=["descent", "balanced"]).values.tolist() == ["undecided"] * 2
