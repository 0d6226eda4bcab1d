"""Parameters that contradict each other, found before a job runs: the schema passes each of them by itself."""

import argparse

from carryover.config import parameters
from carryover.config.artifacts import STAGES
from carryover.errors import UserError
from carryover.families import contract


def refuse(made):
    """Raise UserError where a stage of an experiment of a `Sweep` refuses its parameters, as its job would.

    It loads the families, with PyTorch, which is why Snakemake does without.
    """
    for experiment, spec in made.config.get("experiments", {}).items():
        for stage in STAGES:
            points = made.points(experiment, stage).values()
            module = contract.stage(spec["family"], stage) if points else None
            if hasattr(module, "check"):  # the schema has looked at everything else
                try:
                    _refuse(module, points)
                except UserError as error:
                    raise UserError(f"experiments.{experiment}.{stage}: {error}") from None


def _refuse(module, points):
    parser = argparse.ArgumentParser()
    parameters.add_arguments(parser, module.Parameters)
    for point in points:
        asked = parser.parse_args(parameters.as_flags(point.asked))
        module.check(parameters.from_arguments(module.Parameters, asked))
