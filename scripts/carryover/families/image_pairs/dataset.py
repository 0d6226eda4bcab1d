"""The dataset that a stage of pairs of image tasks writes: what each run was, and what came of it."""

from carryover.families import _dataset

MEANING = {
    "pair": "number of the pair of a source and a target task",
    "source_classes": "classes that the source task tells apart",
    "target_classes": "classes that the target task tells apart",
    "cutoff": "share of the largest singular value up to which a direction is left out of a task's coefficients",
    "pixels": "pixels between 0 and 1 (raw), or less the mean of all training images (centred)",
    "samples": "images of the target task",
    "solver": "how it was solved",
}


def assemble(runs, variables):
    """Dataset over `run`: `runs` are mappings of coordinates, one a run, `variables` as in `_dataset`."""
    columns = {name: [run[name] for run in runs] for name in runs[0]}
    return _dataset.assemble(variables, columns, ("main",), MEANING)
