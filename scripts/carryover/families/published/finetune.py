"""The published runs on the main task: a batch for each experiment, factor and number of samples.

`p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from carryover.families.published import draws, protocols
from carryover.families.published.pretrain import MEANING, layers, pose
from carryover.families.stages import Batch, of_training
from carryover.networks import relu
from carryover.training.result import Trained


def problems(p, shard):
    """The runs of the shard's seeds that are trained at all; UserError for what nobody published."""
    if p.protocol == "pretrained":
        yield reuse_pretraining(shard)
        return
    for published, factor, samples in product(p.published, p.rescale, p.samples):
        every = protocols.select(published=published, protocol=p.protocol, rescale=factor, samples=samples)
        listed = [run for run in every if run["seed"] in shard.seeds]
        # from the runs of all seeds, so that what is drawn does not depend on the shard
        drawn = protocols.to_the_end(every, p.drawn)
        if p.cells:
            listed = drawn = protocols.in_cells(listed, p.cells)
        elif not p.budget:
            listed = [run for run in listed if run in drawn]
        # Diagonal runs of one seed share their inputs.
        apart = published.startswith("diagonal")
        for chosen in [[run for run in listed if run["seed"] == seed] for seed in shard.seeds] if apart else [listed]:
            if chosen:
                yield make_batch(p, shard, chosen, [run in drawn for run in chosen])


def make_batch(p, shard, runs, to_the_end):
    """The `Batch` of runs, {coordinate: value} each, of one experiment, factor and number of samples, and of one seed
    of diagonal networks; `to_the_end` says of each whether it is trained without a budget."""
    rules = protocols.rules(runs[0]["published"], p.protocol, runs[0]["rescale"])
    if "batches" in p.switched:
        rules = replace(rules, batch=0)
    outputs = ("auxiliary", "main") if p.protocol == "multi_task" else ("main",)
    problem = pose(p, [draw(p, shard, run, len(outputs)) for run in runs], rules, to_the_end, outputs)
    if "stop" in p.switched:
        problem = replace(problem, tolerance=1e-8 * np.square(problem.tasks[0].y).mean(1))
    names = [name for name in runs[0] if name not in ("network", "protocol", "setup", "risk")]
    columns = {name: np.array([run[name] for run in runs]) for name in names}
    columns["ours"] = np.full(len(runs), " ".join((*p.ours, *p.switched)))
    return Batch(problem, columns, partial(variables, problem), MEANING, outputs)


def reuse_pretraining(shard):
    """A `Batch` of the pretrained ReLU networks themselves, one per seed. Its `problem` is already a `Trained`, which
    the solver returns unchanged."""
    known = shard.pretrained.isel(run=shard.rows(seed=shard.seeds))
    weights = relu.Weights(known["first"].values, known["second"].values)
    same = Trained.from_solution(weights, known["loss"].values, known["risk_final"].values)
    runs = {"seed": shard.seeds, "ours": np.full(len(shard.seeds), "")}
    return Batch(same, runs, lambda trained: layers(weights) | of_training(trained), MEANING)


def draw(p, shard, run, outputs):
    """The `draws.Drawn` of one run, a dict {coordinate: value}: its samples and its initial network.

    `outputs` is the number of readouts, 2 if the network learns both tasks. From the pretrained network of its seed a
    run takes the first layer only, (H, D), or (2, D) for the two paths of a diagonal network; the readout is drawn
    anew. `p.ours` and `p.switched` name details in which a run follows our own experiments instead of the released
    code. They change the draws of ReLU networks only.
    """
    diagonal, pretrained = run["network"] == "diagonal", None
    if p.starts_pretrained:
        left = shard.pretrained.isel(run=shard.rows(seed=[run["seed"]])[0])
        pretrained = np.stack([left["first_plus"], left["first_minus"]]) if diagonal else left["first"].values
    if diagonal:
        return draws.draw_diagonal(run, outputs, pretrained)
    return draws.draw_relu(run, outputs, pretrained, (*p.ours, *p.switched))


def variables(problem, trained):
    """Those of training, and whether it went on to the published end."""
    finished = trained.converged | (problem.last >= problem.rules.epochs)
    own = {"finished": ("run", finished.astype(np.int8), "1 where the run was trained to its published end")}
    return of_training(trained) | own
