"""A measure measures the networks that keep what it needs, and families say what theirs keep."""

import pytest

from carryover.config import plugins
from carryover.config.parameters import applies
from carryover.config.plugins import model_of
from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow import collecting
from toy import image_pair_toys, mean_field_toys, relu_toys, shards, trainer_shards, wide_relu_toys

SHARDS = {
    "convnet": lambda: trainer_shards.convnets(keep_weights=True),
    "deep_linear": trainer_shards.deep_linear_descent,
    "diagonal": trainer_shards.diagonal_descent,
    "image_pairs": image_pair_toys.finetuned,
    "mean_field": lambda: mean_field_toys.finetuned(mean_field_toys.pretrained((0, 1)), "pretrained"),
    "published": lambda: shards.shard(
        "published", "finetune", [0], shards.shard("published", "pretrain", [0], budget=2), protocol="pretrained"
    ),
    "relu": lambda: relu_toys.finetuned(relu_toys.pretrained(), width=9, keep_samples=True),
    "wide_relu": lambda: wide_relu_toys.finetuned(None, (0, 1)),
}
SMALL = {"clusters": {"largest_k": 4}}


def test_there_is_a_shard_of_every_family():
    assert sorted(SHARDS) == sorted(plugins.names("families"))


@pytest.mark.parametrize("family", SHARDS)
def test_what_a_family_keeps_decides_what_is_measured(family, tmp_path):
    shard, path = SHARDS[family](), tmp_path / "shard.nc"
    keeps = model_of(f"families.{family}", "finetune").KEEPS
    keeps = {name: when for name, when in keeps.items() if "forecast" not in when}  # which the shards are without
    assert keeps.keys() <= shard.data_vars.keys()
    store.save(shard, path)
    protocol, measured = {"protocol": shard["protocol"].values[0]}, set()
    for name in plugins.names("measures"):
        measure = plugins.find("measures", name)
        conditions = {axis: values for axis, values in measure.applies_to.items() if axis in protocol}
        if applies(conditions, protocol) and all(keeps.keys() & set(names) for names in measure.any_of):
            (result,) = collecting.measure_shard(measure, measure.model(**SMALL.get(name, {})), path)
            assert result.sizes["run"] == shard.sizes["run"], name
            measured.add(name)
        else:
            with pytest.raises(UserError, match=f"^{name} measures nothing in "):
                collecting.measure_shard(measure, measure.model(), path)
    assert len(measured) > 1
