"""Everything that learns a target task: from the coefficients of a source task, or from 0; with the bounds on its
error that "Finetuning with linear teachers" compares in Table 1.

`p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

from functools import partial
from itertools import product

import numpy as np

from carryover.errors import UserError
from carryover.families.image_pairs import pretrain
from carryover.families.stages import Batch
from carryover.streams import generator
from carryover.theory.linear_teachers import benign_overfitting_bound, covariance_terms

TOP_DIRECTIONS = 2  # m of equation 3 in Table 1
CONFIDENCE = 1.0  # δ of equation 3, the smallest that theorem 4.2 allows
MEANING = {
    "risk_final": "share of the held-out target images that are misclassified, mean over draws",
    "risk_best": "nothing: there is no training to follow",
    "loss": "half the mean squared error on the samples, mean over draws",
    "evaluations": "gradient evaluations, of the draw that took most",
    "converged": "whether the loss came to the tolerance on every draw; 1 of the limit",
    "distance": "squared distance of the target's coefficients from the start, |θ_T − θ_S|²",
    "benign_overfitting": "bound of benign overfitting, with θ_T − θ_S in the place of the coefficients",
    "covariance": f"bound by the covariance of the target's images (eq 3), m = {TOP_DIRECTIONS}, c = 1",
    "covariance_top": "its first term, of the top m directions, which grows with c as c³, the other as c",
    "target_alignment": "share of the mean square of the target's labels that the source's function explains",
}


def problems(p, shard):
    """A batch for each seed, kind of pixels, pair and number of samples; runs are estimators, and means over draws.

    Samples are drawn without replacement and not balanced, as from a distribution; those of a draw depend on seed, pair
    and draw alone, and fewer of them are part of more. The bounds take θ_T and the second moments Σ from all training
    images of the target's classes. Raises UserError for pretrained shards of other tasks, and where a task has fewer
    images than samples are asked for.
    """
    pairs = pretrain.pairs(p, shard.experiment)
    estimators, origins = zip(*product(p.estimator, p.target_from), strict=True)  # of each run of a batch
    for columns, split in pretrain.splits(p, shard):
        regression = pretrain.regressions(split)
        starts = np.zeros((len(pairs), len(estimators), split.pixels.shape[1]))
        if shard.pretrained is not None:
            if (found := shard.pretrained.sizes["input"]) != starts.shape[-1]:
                raise UserError(f"{p.images} has {starts.shape[-1]} pixels, but the pretrained networks have {found}.")
            wanted = [columns | names | {"estimator": one} for (names, *_), one in product(pairs, estimators)]
            rows = shard.rows(**{key: [coordinates[key] for coordinates in wanted] for key in wanted[0]})
            starts = shard.pretrained["coefficients"].values[rows, 0].reshape(starts.shape)
        for start, (names, _, classes) in zip(starts, pairs, strict=True):
            pixels, labels = _draw_samples(p, shard.experiment, split, columns["seed"], names["pair"], classes)
            tests, target = split.task(*classes, "test"), regression(*classes)
            target_start = np.where([[origin == "source"] for origin in origins], start, 0.0)
            difference = target.coefficients(estimators, target_start) - start  # θ_T − θ_S, (runs, d)
            for n in p.samples:
                problem = pretrain.Problem(pixels[:, :n], labels[:, :n], start, tests)
                bounds = _bounds(difference, target, n) | {"target_alignment": target.explain(start)}
                runs = columns | names | {"estimator": estimators, "target_from": origins, "samples": n}
                yield Batch(problem, runs, partial(_variables, problem, bounds), pretrain.MEANING)


def _draw_samples(p, experiment, split, seed, pair, classes):
    """Pixels (draws, n, d) and labels (draws, n) of as many samples of a task as the most that are asked for."""
    first, second = classes
    known, most = split.members(first, second), max(p.samples)
    if most > len(known):
        given = f"the classes {first} and {second} have {len(known)} training images"
        raise UserError(f"samples has {most}, but {given}: lower samples.")
    rngs = [generator(experiment, {"pair": pair, "draw": draw}, seed, "samples") for draw in range(p.draws)]
    drawn = np.stack([known[rng.permutation(len(known))[:most]] for rng in rngs])
    return split.pixels[drawn], np.where(split.labels[drawn] == first, 1.0, -1.0)


def _bounds(difference, target, samples):
    """{name: (runs,)}: the squared distance |θ_T − θ_S|² and the papers' bounds on the error from `samples` samples.

    `difference` is θ_T − θ_S (runs, d), `target` the `Regression` of the target task.
    """
    # All bounds are stated in the eigenvectors of the second moments of the target's images.
    along = difference @ target.directions.T
    top, bottom = covariance_terms(along, target.spectrum, samples, TOP_DIRECTIONS, CONFIDENCE)
    return {
        "distance": (along**2).sum(-1),
        "benign_overfitting": benign_overfitting_bound(along, target.spectrum, samples),
        "covariance": top + bottom,
        "covariance_top": top,
    }


def _variables(problem, bounds, trained):
    """`Variables` of a `Trained` with weights (runs, draws, d), with bounds {name: (runs,)} and the test error."""
    pixels, labels = problem.tests
    errors = (np.sign(trained.weights @ pixels.T) != labels).mean(-1)  # (runs, draws)
    values = vars(trained) | bounds | {"risk_final": errors.mean(-1)}
    values["converged"] = trained.converged.astype(np.int8)
    return {name: ("run", values[name], text) for name, text in MEANING.items()}
