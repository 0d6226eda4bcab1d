"""What stages of the ReLU family refuse, in one sentence each."""

import pytest

from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.families import stages
from carryover.families.relu import finetune, parameters
from toy.relu_toys import FITTED, TASK, finetuned, pretrained


@pytest.fixture(scope="module")
def start():
    return pretrained(max_epochs=2)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        *(({"protocol": name, "solver": "descent"}, f"{name} has no solver descent: choose ridge.") for name in FITTED),
        ({"main_features": (3,)}, "overlap 0.5 of 3 main features is 1.5, no whole number."),
        (
            {"main_features": (4,), "overlap": (1.0,)},
            "main unit 4 correlates with an auxiliary one, but there are only 3.",
        ),
        ({"seeds": (1, 4, 5)}, "the pretrained shard has the seeds [0, 1, 2], but not [4, 5]."),
        ({"dimension": 6}, "dimension is 6, but the pretrained networks have 7."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(start, told, sentence):
    with pytest.raises(UserError) as error:
        finetuned(start, **told)
    assert str(error.value) == sentence


def test_the_pretrained_shard_must_be_there_exactly_if_it_is_used(start):
    for protocol in (*parameters.PRETRAINED, *parameters.SCRATCH):
        solver = "ridge" if protocol in FITTED else "descent"
        p = model_of("families.relu", "finetune")(**TASK, protocol=protocol, solver=solver)
        from_scratch = protocol in parameters.SCRATCH
        with pytest.raises(UserError) as error:
            stages.run(finetune, p, "toy", [0], None, start if from_scratch else None)
        start_is, remedy = ("scratch", "leave --pretrained out")
        if not from_scratch:
            start_is, remedy = "pretrained networks", "name their shard with --pretrained"
        assert str(error.value) == f"{protocol} starts from {start_is}: {remedy}."
