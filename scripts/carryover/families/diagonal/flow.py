"""Solver: gradient flow followed by an adaptive integrator."""

from carryover.families.diagonal.ensembles import train
from carryover.training.flow import gradient_flow


def solve(problem, p, progress=None):
    return train(gradient_flow, problem, p, progress, max_steps=p.max_steps, accuracy=p.accuracy)
