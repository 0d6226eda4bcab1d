"""Everything that is trained on the main task: from a pretrained network, from scratch, or together with the auxiliary
task; the whole network, its readout alone (probe), or its tangent features (kernel)."""

from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from carryover.config.parameters import parameter
from carryover.errors import UserError
from carryover.families.contract import Piece
from carryover.families.relu import conditions, dataset, samples, starts, task
from carryover.streams import generator
from carryover.tasks.sparse import sphere

PRETRAINED = ("finetuning", "finetuning_probe", "finetuning_kernel")
SCRATCH = ("single_task", "multi_task", "single_task_probe", "single_task_kernel")
STARTS_FROM = {"protocol": PRETRAINED}
WHOLE = {"protocol": ("single_task", "finetuning")}
TRAINED = {"solver": ("descent", "flow")}

EXACT_RISK = True  # it is over all inputs, so that what is chosen by it was not chosen on test data


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    protocol: str = parameter("finetuning", "finetuning starts from the pretrained network, single_task from scratch, "
                              "multi_task learns both tasks at once; a probe fits the readout alone, a kernel the "
                              "tangent features", choices=(*SCRATCH, *PRETRAINED), axis=True)  # fmt: skip
    solver: str = parameter("descent", "gradient descent, gradient flow, which descent follows with small steps, or, "
                            "for probes and kernels, ridge regression", choices=("descent", "flow", "ridge"),
                            axis=True)  # fmt: skip
    samples: tuple[int, ...] = parameter((16,), "main-task samples", minimum=1)
    main_features: tuple[int, ...] = parameter((6,), "teacher units of the main task", minimum=1)
    main_norm: str = parameter("l2", "their coefficients are ±1/√k (l2) or ±1/k (l1)", choices=("l1", "l2"))
    magnitude: tuple[float, ...] = parameter((1.0,), "factors on these coefficients", above=0)
    overlap: tuple[float, ...] = parameter((1.0,), "fraction of them that are auxiliary ones", minimum=0, maximum=1)
    correlation: tuple[float, ...] = parameter((1.0,), "cosines between those and their auxiliary ones", minimum=-1,
                                               maximum=1)  # fmt: skip
    unit_correlations: tuple[str, ...] = parameter((), "in place of overlap and correlation: lists of a cosine for "
                                                   "each main unit, such as 1 1 0.9 0.9 0 0")  # fmt: skip
    rescale: tuple[float, ...] = parameter((1.0,), "factors on the weights before training", above=0, when=WHOLE)
    rescaled: str = parameter("first", "layers that the factors multiply: the first one, or both, after the readout's "
                              "reset", choices=("first", "both"), when=WHOLE)  # fmt: skip
    readout_scale: float = parameter(1e-3, "the readout is redrawn from N(0, scale² · 2/width)", above=0,
                                     when={"protocol": PRETRAINED})  # fmt: skip
    spread: float = parameter(0.0, "pretrained input weights are turned apart at random, by about as many radians; "
                              "their lengths stay", minimum=0, maximum=1, when={"protocol": PRETRAINED})  # fmt: skip
    initial_scale: tuple[float, ...] = parameter((1e-3,), "both layers start from N(0, scale² · 2/fan-in): small is "
                                                 "rich, 1 is lazy", above=0, when={"protocol": SCRATCH})  # fmt: skip
    auxiliary_samples: int = parameter(1024, "auxiliary samples", minimum=1, when={"protocol": ("multi_task",)})
    loss: str = parameter("squared", "squared error, or cross-entropy on the sign of the teacher",
                          choices=("squared", "cross_entropy"), when=TRAINED)  # fmt: skip
    learning_rate: float = parameter(1.0, "step of gradient descent, cut where it diverges", above=0, when=task.DESCENT,
                                     axis=True)  # fmt: skip
    batch_size: int = parameter(128, "samples of a task in a step; 0 for all", minimum=0, when=task.DESCENT)
    tolerance: float = parameter(
        1e-8,
        "training loss at which training stops, as a fraction of that of a network whose outputs are 0",
        above=0,
        when=TRAINED,
    )
    max_epochs: int = parameter(100_000, "most passes through the samples", minimum=1, when=task.DESCENT)
    max_steps: int = parameter(10_000, "most gradient evaluations of the flow, two a step", minimum=1, when=task.FLOW)
    accuracy: float = parameter(0.03, "error of one step of the flow in a unit, relative to how far it has moved",
                                above=0, maximum=1, when=task.FLOW)  # fmt: skip
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"), when=TRAINED)
    keep_samples: bool = parameter(False, "keep the main task's samples, for measures of what else would fit them")


def problems(p, shard):
    """A piece for each number of samples.

    Raises UserError for a main task without room, and for pretrained networks of other sizes.
    """
    shard.check_sizes({"width": ("unit", p.width), "dimension": ("input", p.dimension)})
    runs = conditions.all_of(p, shard.seeds)
    auxiliary, teacher = conditions.teachers(p, shard.experiment, runs)
    start = starts.weights(p, shard, runs, _outputs(p))
    for size in p.samples:
        problem = _problem(p, shard, runs, size, start, teacher, auxiliary)
        columns = conditions.columns(p, runs) | {"samples": size}
        kept = samples.beside(partial(dataset.variables, problem, auxiliary), problem, p)
        yield Piece(problem, columns, kept, dataset.MEANING, _outputs(p))


def check(p):
    """Refuse a solver that the protocol does not have; UserError."""
    fitted = p.protocol.endswith(("_probe", "_kernel"))
    if fitted != (p.solver == "ridge"):
        raise UserError(f"{p.protocol} has no solver {p.solver}: choose {'ridge' if fitted else 'descent or flow'}.")


def _outputs(p):
    return ("main", "auxiliary") if p.protocol == "multi_task" else ("main",)


def _problem(p, shard, runs, size, start, teacher, auxiliary):
    """Main-task data of every run, and auxiliary ones where both tasks are learned."""
    experiment, seeds = shard.experiment, shard.seeds
    sets = np.array([seeds.index(run.seed) for run in runs])
    rngs = (generator(experiment, "", seed, "inputs") for seed in seeds)
    X = [np.stack([sphere(rng, size, p.dimension) for rng in rngs])]
    y = [teacher(X[0][sets])]
    if p.protocol == "multi_task":
        X.append(np.stack([task.auxiliary_data(p, experiment, seed, p.auxiliary_samples) for seed in seeds]))
        y.append(auxiliary(X[1][sets]))
    if p.loss == "cross_entropy":
        y = [task.labels(targets) for targets in y]
    return task.Problem(
        X, y, sets, start, teacher,
        lambda run: generator(experiment, {**asdict(runs[run]), "samples": size}, runs[run].seed, "order"),
    )  # fmt: skip
