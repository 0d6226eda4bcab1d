"""What is done of a figure once for all formats, and the mathematics in its texts, which are first read then."""

from contextlib import contextmanager
from functools import wraps

import matplotlib.pyplot as plt
from matplotlib.cbook import is_math_text
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text

from carryover.errors import UserError
from carryover.figures.drawing import log_axes


def laid_out(draw):
    """A plug-in's function `draw`, whose figures meet all of their numbers and texts before they are written."""

    @wraps(draw)
    def drawn(data, p):
        with _readable():
            figure = draw(data, p)
            if isinstance(figure, plt.Figure):  # for its caller to say
                log_axes.in_plain_text(figure)
                if layout := figure.get_layout_engine():
                    layout.execute(figure)
        return figure

    return drawn


@contextmanager
def _readable():
    """Draw figures; UserError naming the text where one has mathematics (`$…$`) that Matplotlib cannot read."""
    try:
        yield
    except ValueError as error:
        texts = {text.get_text() for number in plt.get_fignums() for text in plt.figure(number).findobj(Text)}
        for text in sorted(texts) if not isinstance(error, UserError) else ():
            if fault := _fault(text):
                raise UserError(f"the text {text} is no mathematics: {fault}; a dollar sign is written \\$") from error
        raise


def _fault(text):
    try:
        if is_math_text(text):
            MathTextParser("path").parse(text)
    except ValueError as error:
        return str(error).splitlines()[-1].partition("Exception: ")[2].partition("  (at char")[0]
    return ""
