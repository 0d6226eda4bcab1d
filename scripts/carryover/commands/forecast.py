"""Forecast whether pretraining will help a task, before any training.

A Python file defines `model` and `loader`, and may define labels, layer, baseline and call, as
`carryover.diagnosis.forecast.forecast` takes them. The file is run: give one that you trust.
"""

import argparse
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from carryover.commands.rescale import definitions
from carryover.config import parameters
from carryover.config.parameters import Model, parameter
from carryover.diagnosis.forecast import ARMS, forecast
from carryover.provenance.job_record import Job
from carryover.statistics.held_out import LEAST


class Options(Model):
    arms: tuple[Literal[*ARMS], ...] = parameter(ARMS, "what could be trained")  # type: ignore[valid-type]
    samples: Annotated[int, Field(ge=LEAST)] = parameter(500, "labelled samples, the first of the loader")
    factor: PositiveFloat = parameter(0.5, "factor on the weights of the arm rescale")
    seed: Annotated[int, Field(ge=0)] = parameter(0, "of weights drawn anew")
    confidence: Annotated[float, Field(gt=0, lt=1)] = parameter(0.95, "probability of the intervals")


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover forecast", description=__doc__, allow_abbrev=False)
    parser.add_argument("network", type=Path, metavar="FILE", help="the Python file")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="netCDF file for the forecast")
    parameters.add_arguments(parser, Options)
    arguments = parser.parse_args(argv)
    p = parameters.from_arguments(Options, arguments)
    outputs = [arguments.output] if arguments.output else []
    network = definitions(arguments.network, ("model", "loader"), ("labels", "layer", "baseline", "call"))
    with Job(rule="forecast", parameters=p, inputs=[arguments.network], outputs=outputs, modules=[__name__]) as job:
        result = forecast(**network, **p.model_dump())
        print(result.headline)
        if arguments.output:
            job.save(result)
