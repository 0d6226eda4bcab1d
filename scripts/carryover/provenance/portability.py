"""What a result promises where its job runs on another processor, with other libraries or numbers of threads.

    bits            the same bytes
    rounding        the same numbers but for their last digits: libraries add in another order there
    distribution    other numbers from the same distribution: training enlarges a rounding until it is as good as
                    another draw, as steps near the largest stable one and normalisation over few values do

In one place a job gives the same bits again, whatever it promises elsewhere. A measure or another plug-in promises what
its `PORTABLE` says, a solver what that of its family's `solvers` says by its name, and rounding where they say nothing.
What is made of results promises no more.
"""

import sys

LEVELS = ("bits", "rounding", "distribution")
MEANING = "what of the data is the same on another processor: bits, all to rounding, or the distribution alone"


def promised(modules):
    """What a job promises that names these modules, the plug-ins that it has loaded among them."""
    return weakest(["rounding", *(getattr(sys.modules.get(name), "PORTABLE", "rounding") for name in modules)])


def weakest(levels):
    """What is promised of something made of such results."""
    return max(levels, key=LEVELS.index)
