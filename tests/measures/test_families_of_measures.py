"""The families that a measure names are those whose networks it can measure."""

import pytest

from carryover.config import plugins
from carryover.config.parameters import applies, model_of
from carryover.errors import UserError
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
def test_a_measure_measures_the_families_that_it_names_and_no_other(family):
    shard = SHARDS[family]()
    protocol = {"protocol": shard["protocol"].values[0]}
    for name in plugins.names("measures"):
        measure, p = plugins.function_of("measures", name), model_of("measures", name)(**SMALL.get(name, {}))
        if family in (p.FAMILIES or plugins.names("families")):
            assert measure(shard, p).sizes["run"] == shard.sizes["run"], name
        elif applies(p.APPLIES_TO, protocol):
            with pytest.raises((KeyError, UserError)):
                measure(shard, p)
