"""Mathematics in the texts of a figure: between two dollar signs, in TeX's notation."""

from contextlib import contextmanager

import matplotlib.pyplot as plt
from matplotlib.cbook import is_math_text
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text

from carryover.errors import UserError


@contextmanager
def readable():
    """Draw figures; UserError naming the text where one has mathematics that Matplotlib cannot read."""
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
