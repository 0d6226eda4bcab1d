"""Find the factor on a pretrained network's weights with which finetuning scores best in validation.

The network and its training are those of a Python file, which defines make(seed), state, finetune(network, seed) and
score(network), as `carryover.diagnosis.rescaling.choose_factor` takes them; finetune(network, seed, rate) has its
learning rate multiplied by rate, for a control. If the file defines renew_statistics (batches, or a function of the
seed), running statistics are renewed from them. The file is run: give one that you trust.
"""

import argparse
import runpy
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from carryover.config import parameters
from carryover.config.parameters import Model, parameter
from carryover.diagnosis.rescaling import choose_factor
from carryover.diagnosis.search import FACTORS
from carryover.errors import UserError
from carryover.provenance.job_record import Job

NEEDED = ("make", "state", "finetune", "score")


class Options(Model):
    which: Literal["all", "weights", "readout"] = parameter(
        "weights", "what is multiplied; weights: all but normalisation layers")  # fmt: skip
    head: str = parameter("", "name of the layer that begins anew; without one none does")
    factors: tuple[PositiveFloat, ...] = parameter(FACTORS, "factors to try; 1 always is")
    seeds: Annotated[int, Field(ge=2)] = parameter(3, "seeds of each factor")
    fresh_seeds: Annotated[int, Field(ge=2)] = parameter(8, "other seeds, for the comparison with no rescaling")


def definitions(file, needed, optional=(), functions=()):
    """{name: what the Python file defines under it} of what a command needs and may have; UserError for a file that is
    missing, that lacks some, or in which one of `functions` is none."""
    if not file.is_file():
        raise UserError(f"{file} is no file: name a Python file that defines {', '.join(needed)}")
    try:
        defined = runpy.run_path(str(file))
    except SyntaxError as error:
        raise UserError(f"{error.filename}, line {error.lineno}: this is no Python: {error.msg}") from None
    if missing := [name for name in needed if name not in defined]:
        raise UserError(f"{file} does not define {', '.join(missing)}: it must define {', '.join(needed)}")
    if wrong := [name for name in functions if not callable(defined[name])]:
        raise UserError(f"{wrong[0]} of {file} is a {type(defined[wrong[0]]).__name__}, it must be a function")
    return {name: defined[name] for name in (*needed, *optional) if name in defined}


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover rescale", description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("network", type=Path, metavar="FILE", help="the Python file")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="netCDF file for the scores by factor")
    parser.add_argument("--journal", type=Path, metavar="FOLDER", help="keeps scores; a search cut off goes on")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="trainings at once (default: 1)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parameters.add_arguments(parser, Options)
    arguments = parser.parse_args(argv)
    p = parameters.from_arguments(Options, arguments)
    network = definitions(arguments.network, NEEDED, ["renew_statistics"], ("make", "finetune", "score"))
    inputs, outputs = [arguments.network], [arguments.output] if arguments.output else []
    with Job(rule="rescale", parameters=p, inputs=inputs, outputs=outputs, modules=[__name__]) as job:
        options = {**p.model_dump(), "head": p.head or None}
        how = {"journal": arguments.journal, "jobs": arguments.jobs, "progress": not arguments.quiet}
        choice = choose_factor(**network, **options, **how)
        for sentence in choice.notes:
            print(sentence)
        print(choice.curve.to_dataframe().to_string(float_format="{:.4g}".format))
        print(f"{choice.trainings} trainings, recommended factor {choice.recommended:g}.")
        print(choice.sentence())
        if arguments.output:
            job.save(choice.curve)
