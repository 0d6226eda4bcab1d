"""Theory curve: the risks of `diagonal_risk` for nested tasks, by the factor on the weights before finetuning."""

from carryover.theory.curves import diagonal_risk

compute = diagonal_risk.compute
