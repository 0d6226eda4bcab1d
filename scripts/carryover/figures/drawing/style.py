"""The style of figures: Matplotlib's own defaults with a style file on them, whatever matplotlibrc a user has."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

from carryover.errors import UserError


def use(path: Path | None) -> None:
    """Draw from now on with Matplotlib's defaults and the settings of this file, if there is one.

    Raises UserError, naming file and line, for what is no setting of Matplotlib or a value that it does not take.
    """
    matplotlib.rcdefaults()
    if path is None:
        return
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    for number, line in enumerate(lines, 1):
        setting = line.partition("#")[0].strip() if not line.lstrip().startswith("#") else ""
        if setting:
            _check(f"{path}, line {number}", setting)
    try:
        matplotlib.rc_params_from_file(path, fail_on_error=True, use_default_template=False)
    except ValueError as error:
        raise UserError(f"{path}: {' '.join(str(error).split())}") from None
    plt.style.use(path)


def _check(where: str, setting: str) -> None:
    key, colon, _ = setting.partition(":")
    if not colon:
        raise UserError(f"{where}: {setting!r} must be a setting and its value with a colon between them")
    if key.strip() not in matplotlib.rcParams:
        close = get_close_matches(key.strip(), matplotlib.rcParams, n=3)
        known = f"; close are {', '.join(close)}" if close else ""
        raise UserError(f"{where}: {key.strip()} is no setting of Matplotlib{known}")
