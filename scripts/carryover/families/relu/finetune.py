"""Everything that is trained on the main task: from a pretrained network, from scratch, or together with the auxiliary
task; the whole network, its readout alone (probe), or its tangent features (kernel)."""

from dataclasses import asdict
from functools import partial

import numpy as np

from carryover.families.contract import Piece
from carryover.families.relu import conditions, dataset, samples, starts, task
from carryover.streams import generator
from carryover.tasks.sparse import sphere

EXACT_RISK = True  # it is over all inputs, so that what is chosen by it was not chosen on test data


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
