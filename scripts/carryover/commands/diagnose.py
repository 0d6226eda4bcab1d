"""Say what finetuning did to the features of a network, from its activations before and after.

Writes diagnosis.nc and diagnosis.png into a folder, and prints the verdicts.
"""

import argparse
from pathlib import Path

from carryover.config import parameters
from carryover.config.parameters import parameter
from carryover.diagnosis.diagnosis import Parameters, diagnose
from carryover.diagnosis.report import by_layer, draw
from carryover.errors import UserError
from carryover.figures.drawing import style
from carryover.provenance.job_record import Job

KINDS = "npz, npy, netCDF or safetensors: (samples, …) by layer"


class Options(Parameters):
    layers: tuple[str, ...] = parameter((), "layers to look at; none: all")


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover diagnose", description=__doc__, allow_abbrev=False)
    parser.add_argument("--pretrained", required=True, type=Path, metavar="FILE", help=f"before: {KINDS}")
    parser.add_argument("--finetuned", required=True, type=Path, metavar="FILE", help="after, of the same samples")
    parser.add_argument("--baseline", nargs="?", type=Path, metavar="FILE", help="of an unrelated network")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FOLDER", help="where the results go")
    parameters.add_arguments(parser, Options)
    arguments = parser.parse_args(argv)
    p = parameters.from_arguments(Options, arguments)
    data, figure = (arguments.output / f"diagnosis.{suffix}" for suffix in ("nc", "png"))
    for flag in ("pretrained", "finetuned", "baseline"):  # `Job` would ask for the step that makes a missing file
        file = getattr(arguments, flag)
        if file is not None and not file.exists():
            raise UserError(f"--{flag} {file}: there is no such file")
    own_style = style.FILE if style.FILE.is_file() else None
    files = (arguments.pretrained, arguments.finetuned, arguments.baseline, own_style)
    inputs = [file for file in files if file]
    with Job(rule="diagnose", parameters=p, inputs=inputs, outputs=[data, figure], modules=[__name__]) as job:
        layers = p.layers or None
        result = diagnose(arguments.pretrained, arguments.finetuned, layers=layers, p=p, baseline=arguments.baseline)
        job.save(result, data)
        style.use(own_style)
        draw(result).savefig(job.path(figure), metadata=job.figure_metadata(".png"))
        print(result.headline, by_layer(result), sep="\n")
