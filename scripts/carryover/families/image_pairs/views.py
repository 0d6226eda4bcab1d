"""What runs have before they are trained: see `families.forecasts`."""

from carryover.families.forecasts import Start, View


def views(problem, p):
    """Yield the `View` of each run on the first draw of samples, before it is trained.

    Functions are linear in the pixels. Finetuning starts from the source's function, which is the only feature;
    training from scratch starts from 0 and the pixels as features.
    """
    inputs, targets = problem.pixels[0], problem.labels[0]
    for beta in problem.start:
        output = inputs @ beta
        kernel = inputs @ inputs.T
        yield View(output[:, None], [inputs], targets, Start([kernel], output), [Start([kernel])])
