"""The pretrained networks that a run of finetuning starts from."""

import numpy as np

from carryover.errors import UserError


def check(protocol, seeds, pretrained, protocols, sizes):
    """Refuse a pretrained shard that the protocol does not start from, or that does not fit; UserError.

    `protocols` start from one; `sizes` are the network's, {parameter: (dimension of the shard, its size)}.
    """
    if (pretrained is not None) != (protocol in protocols):
        asked = "name their shard with --pretrained" if pretrained is None else "leave --pretrained out"
        start = "pretrained networks" if pretrained is None else "scratch"
        raise UserError(f"{protocol} starts from {start}: {asked}.")
    if pretrained is None:
        return
    known = np.unique(pretrained["seed"].values).tolist()
    if missing := [seed for seed in seeds if seed not in known]:
        raise UserError(f"the pretrained shard has the seeds {known}, but not {missing}.")
    for name, (dimension, size) in sizes.items():
        if pretrained.sizes[dimension] != size:
            raise UserError(f"{name} is {size}, but the pretrained networks have {pretrained.sizes[dimension]}.")


def columns(count, p, pretrained):
    """{coordinate: (count,) values} of what all runs of a shard have in common."""
    shared = {"protocol": p.protocol, "solver": p.solver, "loss_function": getattr(p, "loss", "squared")}
    if pretrained is not None:
        shared["pretrain_solver"] = str(pretrained["pretrain_solver"].values[0])
    return {name: np.array([value] * count) for name, value in shared.items()}
