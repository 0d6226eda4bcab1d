"""What runs have before they are trained: see `families.forecasts`."""

from carryover.families.forecasts import relu_view
from carryover.streams import generator
from carryover.tasks.sparse import unit_vectors

DRAWN = 2  # networks


def views(problem, p):
    """Yield the `View` of each run before it is trained: of its pretrained units, and of networks drawn anew, which
    stand for training from scratch. All input weights have unit length."""
    task, (width, dimension) = problem.task, problem.start.first.shape[1:]
    drawn = [unit_vectors(generator("forecast", "mean field", seed, "weights"), width, dimension)
             for seed in range(DRAWN)]  # fmt: skip
    for inputs, targets, network in zip(task.X[task.sets], task.y, problem.networks, strict=True):
        yield relu_view(problem.start.first[network].astype(float), drawn, inputs, targets)
