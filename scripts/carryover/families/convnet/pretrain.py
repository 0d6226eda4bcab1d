"""Pretraining of convolutional networks on the classes that finetuning leaves, or from published weights."""

from itertools import product

from carryover.families.contract import Piece
from carryover.families.convnet import task
from carryover.tasks.class_subsets import class_task


def problems(p, shard):
    """One network per seed and finetuning task, or per seed where all its tasks share it.

    Initial weights are those of single-task learning. Raises UserError as `task.Classes` does.
    """
    classes, read = task.Classes(p, shard.experiment), p.solver == "published"
    tasks = [-1] if classes.shared or read else range(p.tasks)
    kinds = list(product(shard.seeds, tasks))
    # Published weights know no classes of this set; their last layer is as good as any and is never used.
    known = [classes.targets(seed)[0] if read else classes.source(seed, number) for seed, number in kinds]
    sources = [class_task(classes.set, labels) for labels in known]
    problem = task.Problem(
        network=classes.network(len(sources[0].classes), kinds[0][0]),
        state=lambda run: classes.state(len(sources[run].classes), kinds[run][0]),
        tasks=[sources],
        images=classes.prepared,
        draws=task.draws(shard.experiment, kinds),
    )
    spelled = ["" if read else task.spelled(source.classes) for source in sources]
    columns = task.columns(kinds, p) | {"source_classes": spelled}
    attributes = classes.attributes() | {"classes": len(sources[0].classes)}
    yield Piece(problem, columns, task.pretrained, task.MEANING, attributes=attributes)
