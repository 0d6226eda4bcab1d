"""What runs have before they are trained: see `families.forecasts`."""

from carryover.families.forecasts import Start, View


def views(problem, p):
    """Of the first draw of samples: linear functions of pixels, from the source's or from 0. The feature is the
    source's function; drawn anew there are but the pixels."""
    inputs, targets = problem.pixels[0], problem.labels[0]
    for beta in problem.start:
        output = inputs @ beta
        kernel = inputs @ inputs.T
        yield View(output[:, None], [inputs], targets, Start([kernel], output), [Start([kernel])])
