"""Solver: gradient flow, followed by an adaptive integrator; that of a readout alone is solved."""

import math

from carryover.families.diagonal.ensembles import train
from carryover.training.diagonal_flow import gradient_flow
from carryover.training.readout_flow import readout_flow


def solve(problem, p, progress=None):
    max_time = p.max_time or math.inf
    if "first" in problem.trainable:
        return train(gradient_flow, problem, p, progress, max_steps=p.max_steps, max_time=max_time, accuracy=p.accuracy)
    X, y = problem.X[0][problem.draw], problem.y[0][problem.draw]
    return readout_flow(
        X, y, problem.start, tolerance=p.tolerance, max_time=max_time, teacher=problem.teacher, progress=progress
    )
