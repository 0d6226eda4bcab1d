"""Theory curve: the risks of `diagonal_risk` for nested tasks, by the factor on the weights before finetuning."""

from dataclasses import dataclass

from carryover.config.parameters import parameter
from carryover.curves import diagonal_risk

compute = diagonal_risk.compute


@dataclass(frozen=True, kw_only=True)
class Parameters(diagonal_risk.Parameters):
    """The tasks and the starts, as in experiments with nested tasks of diagonal networks."""

    auxiliary_features: int = parameter(16, "active dimensions of the auxiliary task, ±1/√k each", minimum=1)
    main_features: tuple[int, ...] = parameter((4,), "active dimensions k of the main task", minimum=1)
    main_norm: str = parameter("l1", "its coefficients are ±1/√k (l2) or ±1/k (l1)", choices=tuple(diagonal_risk.NORMS))
    overlap: tuple[float, ...] = parameter((0.0, 1.0), "share of them that the auxiliary task has",
                                           minimum=0, maximum=1)  # fmt: skip
    samples: tuple[int, ...] = parameter((4, 8, 16, 32, 64), "main-task samples n, fewer than D", minimum=1)
    rescale: tuple[float, ...] = parameter((1.0, 0.1, 0.01, 0.001), "factor on all weights before training", above=0)
