"""The style of figures: Matplotlib's own defaults with a style file on them, whatever matplotlibrc a user has."""

from pathlib import Path

import matplotlib

from carryover.errors import UserError
from carryover.provenance.job_record import SCRIPTS

# Of the project; where the library is installed alone, Matplotlib's own.
FILE = SCRIPTS.parent / "config" / "figures.mplstyle"


def add_style(parser):
    own = FILE if FILE.is_file() else None
    parser.add_argument("--style", default=own, type=Path, metavar="FILE", help="matplotlib style")


def use(path: Path | None) -> None:
    """Draw from now on with Matplotlib's defaults and the settings of this file, if there is one.

    Raises UserError for a file that cannot be read, an unknown setting, or a value that a setting does not take.
    """
    matplotlib.rcdefaults()
    if path is None:
        return
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        settings = matplotlib.rc_params_from_file(path, fail_on_error=True, use_default_template=False)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise UserError(f"{path} cannot be read: {reason}.") from None
    for key in (line.partition("#")[0].partition(":")[0].strip() for line in lines):
        if key and key not in matplotlib.rcParams:
            raise UserError(f"{path}: {key} is no setting of Matplotlib.")
    matplotlib.rcParams.update(settings)


def save(figure, job, *outputs):
    """Write a figure, as it is laid out, as outputs of a `Job`, in the formats of their suffixes."""
    with matplotlib.rc_context({"figure.constrained_layout.use": False}):  # Matplotlib asks it again after every format
        figure.set_layout_engine(None)
        for output in outputs:
            figure.savefig(job.path(output), metadata=job.figure_metadata(output.suffix))
