"""The published runs on the main task: a piece for each experiment, factor and number of samples."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from carryover.families.published import draws, protocols
from carryover.families.published.parameters import PRETRAINED
from carryover.families.published.pretrain import LAYERS, MEANING, layers, pose, small_diagonal
from carryover.families.stages import Piece, of_training
from carryover.networks import diagonal, relu
from carryover.training.result import Trained


def problems(p, shard):
    """The runs of the shard's seeds that are trained at all; UserError for what nobody published."""
    if p.protocol == "pretrained":
        yield as_pretrained(shard)
        return
    for published, factor, samples in product(p.published, p.rescale, p.samples):
        listed = protocols.runs(published, p.protocol, factor, samples, shard.seeds)
        drawn = protocols.to_the_end(published, p.protocol, factor, samples, p.drawn)
        if p.solver == "descent" and p.cells:
            listed = drawn = protocols.in_cells(listed, p.protocol, p.cells, (*p.ours, *p.switched))
        elif p.solver == "descent" and not p.budget:
            listed = [run for run in listed if run in drawn]
        # Diagonal runs of one seed share their inputs.
        apart = published.startswith("diagonal")
        for chosen in [[run for run in listed if run["seed"] == seed] for seed in shard.seeds] if apart else [listed]:
            if chosen:
                yield piece(p, shard, chosen, [run in drawn for run in chosen])


def piece(p, shard, runs, to_the_end):
    """The runs of one experiment, factor and number of samples, and of one seed of diagonal networks."""
    published, factor = runs[0]["published"], runs[0]["rescale"]
    rules = protocols.rules(published, p.protocol, factor)
    if "batches" in p.switched:
        rules = replace(rules, batch=0)
    last = np.where(to_the_end, rules.epochs, np.minimum(rules.epochs, p.budget))
    problem = pose(p, [draw(p, shard, run) for run in runs], rules, last)
    columns = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    columns["ours"] = np.full(len(runs), " ".join((*p.ours, *p.switched)))
    outputs = ("auxiliary", "main") if p.protocol == "multi_task" else ("main",)
    return Piece(problem, columns, partial(variables, problem), MEANING, outputs)


def as_pretrained(shard):
    """The networks that pretraining left."""
    known = shard.pretrained.isel(run=shard.rows(seed=shard.seeds))
    weights = relu.Weights(*(known[name].values for name in LAYERS["relu"]))
    same = Trained.solved(weights, known["loss"].values, known["risk_final"].values)
    return Piece(
        same,
        {"seed": shard.seeds, "ours": np.full(len(shard.seeds), "")},
        lambda trained: layers(trained) | of_training(trained),
        MEANING,
    )


def draw(p, shard, run):
    """What a run, {coordinate: value}, trains on, and the network that it starts from."""
    published, factor, seed = run["published"], run["rescale"], run["seed"]
    sizes = protocols.coefficients(published, run)
    outputs, pretrained = 2 if p.protocol == "multi_task" else 1, None
    if p.protocol in PRETRAINED:
        pretrained = shard.pretrained.isel(run=shard.rows(seed=[seed])[0])
    if published.startswith("diagonal"):
        start = small_diagonal(factor, outputs, factor**2)
        if pretrained is not None:
            first = [pretrained[name].values * np.float32(factor) for name in list(LAYERS["diagonal"])[:2]]
            start = diagonal.Weights(*first, start.second_plus, start.second_minus)
        shared = round(run["overlap"] * run["main_features"])
        return draws.draw_diagonal(seed, start, run["samples"], run["main_features"], shared, sizes[1])
    cosines = [float(cosine) for cosine in run["unit_correlations"].split()]
    first = None if pretrained is None else pretrained["first"].values
    drawn = draws.draw_relu(seed, cosines, run["samples"], coefficients=sizes, outputs=outputs, pretrained=first,
                            paired="signs" in p.ours)  # fmt: skip
    scale = np.float32(factor)
    both = pretrained is None and "layers" not in p.switched
    second = drawn.start.second * (scale if both else np.float32(1))
    return replace(drawn, start=relu.Weights(drawn.start.first * scale, second))


def variables(problem, trained):
    """Those of training, and whether it went on to the published end; the weights only of networks as pretrained."""
    finished = trained.converged | (problem.last >= problem.rules.epochs)
    own = {"finished": ("run", finished.astype(np.int8), "1 where the run was trained to its published end")}
    return of_training(trained) | own
