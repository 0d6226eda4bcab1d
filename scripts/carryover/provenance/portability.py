"""What a result promises where its job runs on another processor, with other libraries or numbers of threads.

    bits            the same bytes
    rounding        the same numbers but for their last digits: libraries add in another order there
    distribution    other numbers from the same distribution: training enlarges a rounding until it is as good as
                    another draw, as steps near the largest stable one and normalisation over few values do

In one place a job gives the same bits again, whatever it promises elsewhere. A solver promises what `PORTABLE` of its
family's `solvers` says by its name, and all else rounding. What is made of results promises no more.
"""

LEVELS = ("bits", "rounding", "distribution")
MEANING = "what of the data is the same on another processor: bits, all to rounding, or the distribution alone"


def weakest(levels):
    """What is promised of something made of such results."""
    return max(levels, key=LEVELS.index)
