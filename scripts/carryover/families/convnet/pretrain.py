"""Pretraining of convolutional networks on the classes that finetuning leaves, or from published weights."""

from dataclasses import dataclass
from itertools import product

from carryover.config.parameters import parameter
from carryover.families.contract import Piece
from carryover.families.convnet import dataset, task

TRAINED = {"solver": ("descent",)}
PUBLISHED = {"solver": ("published",)}


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("descent", "it is trained here, or published weights are read from a file",
                            choices=("descent", "published"), axis=True)  # fmt: skip
    learning_rate: float = parameter(0.05, "step of gradient descent, at first", above=0, when=TRAINED)
    decay: str = parameter("cosine", "of the learning rate: to 0 at the end along a cosine, or none",
                           choices=("constant", "cosine"), when=TRAINED)  # fmt: skip
    weight_decay: float = parameter(0.0005, "penalty on the weights", minimum=0, when=TRAINED)
    tolerance: float = parameter(0.0, "training loss at which training stops", minimum=0, when=TRAINED)
    max_epochs: int = parameter(6, "most passes through the images", minimum=1, when=TRAINED)
    weights: str = parameter("", "file of published weights, such as resnet18-f37072fd.pth", when=PUBLISHED,
                             path=True)  # fmt: skip
    sha256: str = parameter("", "its SHA-256, checked if given, besides what its name says", when=PUBLISHED)


def problems(p, shard):
    """One network per seed and finetuning task, or per seed where all its tasks share it.

    Initial weights are those of single-task learning. Raises UserError as `task.Classes` does.
    """
    classes, read = task.Classes(p, shard.experiment), p.solver == "published"
    tasks = [-1] if classes.shared or read else classes.numbers()
    kinds = list(product(shard.seeds, tasks))
    # Published weights know no classes of this set; their last layer is as good as any and is never used.
    known = [classes.targets(seed)[0] if read else classes.source(seed, number) for seed, number in kinds]
    sources = [classes.task(some) for some in known]
    problem = task.Problem(
        network=classes.network(len(sources[0].classes), kinds[0][0]),
        state=lambda run: classes.state(len(sources[run].classes), kinds[run][0]),
        tasks=[sources],
        images=classes.prepared,
        draws=task.draws(shard.experiment, kinds),
    )
    spelled = ["" if read else task.spelled(source.classes) for source in sources]
    columns = dataset.columns(kinds, p) | {"source_classes": spelled}
    attributes = classes.attributes() | {"classes": len(sources[0].classes)}
    yield Piece(problem, columns, dataset.pretrained, dataset.MEANING, attributes=attributes)
