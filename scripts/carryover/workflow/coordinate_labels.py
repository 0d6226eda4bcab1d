"""Names of the coordinates that runs of several families have, and of their values, put on datasets by `collect`.

A family names what it has besides, or otherwise, in its `labels.py`: LABELS and VALUE_LABELS as here. They stand apart
from training, which a name does not change.
"""

import importlib
from pathlib import Path

from carryover.errors import UserError

LABELS = {
    "samples": "main-task samples n",
    "overlap": "overlap",
    "main_features": "main features",
    "rescale": "rescaling",
    "initial_scale": "initial scale",
    "protocol": "",
    "solver": "solver",
}
VALUE_LABELS = {
    "protocol": {
        "single_task": "STL",
        "multi_task": "MTL",
        "finetuning": "PT+FT",
        "single_task_probe": "STL (LP)",
        "finetuning_probe": "PT+FT (LP)",
        "single_task_kernel": "STL (NTK)",
        "finetuning_kernel": "PT+FT (NTK)",
        "linear_transfer": "linear transfer",
        "pretrained": "pretrained",
    },
    "solver": {"descent": "gradient descent", "exact": "exact limits"},
    "pretrain_solver": {"": "from scratch", "descent": "from larger weights", "exact": "from vanishing weights"},
}


def module(family, scripts=Path(__file__).parents[2]):
    """The module with a family's own names; None where it has none. UserError where there is no such family."""
    folder = scripts / "carryover/families" / family
    if not folder.is_dir():
        raise UserError(f"there is no family {family}.")
    return f"carryover.families.{family}.labels" if (folder / "labels.py").is_file() else None


def named(data, family):
    """A dataset of runs of a family, whose coordinates carry their names."""
    from carryover.labels import labelled  # with xarray, which the Snakefile does without

    own = importlib.import_module(module(family)) if module(family) else None
    value_labels = dict(VALUE_LABELS)
    for name, words in getattr(own, "VALUE_LABELS", {}).items():
        value_labels[name] = value_labels.get(name, {}) | words
    return labelled(data, LABELS | getattr(own, "LABELS", {}), value_labels)
