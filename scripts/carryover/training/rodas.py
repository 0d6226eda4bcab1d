"""One step of RODAS, for many stiff equations u' = f(u) side by side.

The Rosenbrock method of order 4 with an embedded one of order 3, L-stable and stiffly accurate, of Hairer and Wanner
("Solving ordinary differential equations II", IV.7, RODAS), in their form without products with the Jacobian:

    (1/(γh) − J) U_i = f(u + Σ_j a_ij U_j) + Σ_j c_ij U_j / h.

It takes the Jacobian J of one point, as it is, and six solutions with one matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

GAMMA = 0.25
ORDER = 4  # of the error that is estimated
STAGES = 6

_A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
)
_C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)


def step(
    velocity: Callable[[torch.Tensor], torch.Tensor],
    solve: Callable[[torch.Tensor], torch.Tensor],
    start: torch.Tensor,
    first: torch.Tensor,
    h: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(u after the step, what the embedded method differs from it by), each (runs, k).

    `velocity` is f of states (runs, k), `first` its value at the `start`; `solve` gives U of (1/(γh) − J) U = right,
    with the Jacobian J at the start; h: (runs, 1).
    """
    stages: list[torch.Tensor] = []
    for weights, couplings in zip(_A, _C[:-1], strict=True):
        right = velocity(start + _sum(weights, stages)) if stages else first
        stages.append(solve(right + _sum(couplings, stages) / h if stages else right))
    near = start + _sum(_A[-1], stages[:-1]) + stages[-1]  # what the last stage starts from: of order 3
    error = solve(velocity(near) + _sum(_C[-1], stages) / h)
    return near + error, error


def _sum(weights: tuple[float, ...], stages: list[torch.Tensor]) -> torch.Tensor:
    total = weights[0] * stages[0]
    for weight, stage in zip(weights[1:], stages[1:], strict=True):
        total = total + weight * stage
    return total
