"""The style of figures: Matplotlib's own defaults with a style file on them, whatever matplotlibrc a user has."""

from __future__ import annotations

from pathlib import Path

import matplotlib

from carryover.errors import UserError


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
