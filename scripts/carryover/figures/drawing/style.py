"""The style of figures: Matplotlib's own defaults with a style file on them, whatever matplotlibrc a user has."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure as Figure

from carryover.errors import UserError
from carryover.provenance.job_record import SCRIPTS

FILE = SCRIPTS.parent / "config" / "figures.mplstyle"
"""Of the project; there is none where the library is installed alone."""


def use(path: Path | None) -> None:
    """Draw from now on into files, with Matplotlib's defaults and the settings of this file, if there is one.

    Raises UserError for a file that cannot be read, or a value that a setting does not take.
    """
    matplotlib.use("Agg")
    matplotlib.rcdefaults()
    if path is None:
        return
    try:
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(path, True, use_default_template=False))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {' '.join(str(error).split())}.") from None


def save(figure, job, *outputs):
    """Lay a figure out once, and write it as outputs of a `Job`, in the formats of their suffixes.

    Raises UserError for a text with mathematics (`$…$`) that Matplotlib cannot read.
    """
    try:
        if engine := figure.get_layout_engine():
            engine.execute(figure)
    except ValueError as error:
        text, _, fault = " ".join(str(error).split()).partition("Exception: ")
        if not fault:
            raise
        text = text.partition(" ^")[0]
        raise UserError(f"the formula {text} is no mathematics: {fault}; a dollar sign is written \\$.") from error
    with matplotlib.rc_context({"figure.constrained_layout.use": False}):  # Matplotlib asks it again after every format
        figure.set_layout_engine(None)
        for output in outputs:
            fast = {"pil_kwargs": {"compress_level": 1}} if output.suffix == ".png" else {}  # a tenth larger
            figure.savefig(job.path(output), metadata=job.figure_metadata(output.suffix), **fast)
