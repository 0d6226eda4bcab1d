"""Find the factor on a pretrained network's weights with which finetuning scores best in validation.

The network and its training are those of a Python file, which defines make(seed), state, finetune(network, seed) and
score(network), as `carryover.diagnosis.rescaling.choose_factor` takes them. The file is run: give one that you trust.
"""

import argparse
import runpy
from dataclasses import asdict, dataclass
from pathlib import Path

from carryover.config import parameters
from carryover.config.parameters import parameter
from carryover.diagnosis.rescaling import FACTORS, choose_factor
from carryover.errors import UserError
from carryover.networks.convnet_weights import KINDS
from carryover.provenance.job_record import Job

NEEDED = ("make", "state", "finetune", "score")


@dataclass(frozen=True, kw_only=True)
class Options:
    which: str = parameter("weights", "what is multiplied; weights: all but normalisation layers", choices=KINDS)
    factors: tuple[float, ...] = parameter(FACTORS, "factors to try; 1 always is", above=0)
    seeds: int = parameter(3, "seeds of the first round", minimum=2)
    refinements: int = parameter(1, "how often the places beside the best factor are tried", minimum=0)
    fresh_seeds: int = parameter(8, "other seeds, for the comparison with no rescaling", minimum=2)


def definitions(file):
    """{name: what the Python file defines under it} of what a search needs; UserError for a file that lacks some."""
    defined = runpy.run_path(str(file))
    if missing := [name for name in NEEDED if name not in defined]:
        raise UserError(f"{file} does not define {', '.join(missing)}: it must define {', '.join(NEEDED)}")
    return {name: defined[name] for name in NEEDED}


def main(argv, prog="carryover rescale"):
    parser = argparse.ArgumentParser(
        prog=prog, description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", type=Path, metavar="FILE", help="the Python file")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="netCDF file for the scores by factor")
    parameters.add_arguments(parser, Options)
    arguments = parser.parse_args(argv)
    p = parameters.from_arguments(Options, arguments)
    if not arguments.network.is_file():
        raise UserError(f"{arguments.network} is no file: name a Python file that defines {', '.join(NEEDED)}")
    with Job(
        rule="rescale",
        parameters=p,
        inputs=[arguments.network],
        outputs=[arguments.output] if arguments.output else [],
        modules=[__name__],
    ) as job:
        choice = choose_factor(**definitions(arguments.network), **asdict(p))
        print(choice.curve.to_dataframe().to_string(float_format="{:.4g}".format))
        print(choice.sentence())
        if arguments.output:
            job.save(choice.curve)
