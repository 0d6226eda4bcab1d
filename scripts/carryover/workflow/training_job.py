"""Training one shard: the common part of pretrain.py and finetune.py."""

import logging
from pathlib import Path

from carryover.config import parameters, plugins
from carryover.errors import UserError
from carryover.families import stages
from carryover.provenance import store
from carryover.provenance.job_record import weakest
from carryover.training import devices
from carryover.workflow import command_line
from carryover.workflow.command_line import ALSO


def main(stage, argv, description):
    """`<stage>.py FAMILY --experiment NAME --seeds 0 1 … [--pretrained FILE] --output FILE PARAMETERS [--also …]`.

    `stage` is pretrain or finetune, `argv` the words after the script's name, and `description` the text of the help.
    The output has one dataset for each point.
    """
    family = command_line.read_plugin(argv, "families", stage, description)
    model = plugins.model_of(f"families.{family}", stage)
    arguments, points = _parse_points(f"{stage}.py {family}", argv[1:], model, description)
    start = arguments.pretrained
    files = [file for p in points for file in parameters.input_files(p)]
    if len(set(arguments.seeds)) < len(arguments.seeds) or min(arguments.seeds) < 0:
        raise UserError("--seeds must be different whole numbers from 0")
    forecast = any(getattr(p, "forecast", False) for p in points)
    modules = [f"{family}.{stage}", f"{family}.solvers", *[f"{family}.views", "forecasts"] * forecast]
    devices.keep_free_memory()
    logging.basicConfig(format=f"%(asctime)s {stage} {arguments.experiment}: %(message)s")
    logging.getLogger("carryover").setLevel(logging.INFO)
    with command_line.job(
        stage,
        arguments,
        inputs=dict.fromkeys(file for file in (start, *files) if file),
        modules=[f"carryover.families.{module}" for module in modules],
        parameters=points[0] if len(points) == 1 else {"together": points},
        seeds=arguments.seeds,
        device=getattr(points[0], "device", None),
        portable=weakest(map(stages.portable, points)),
    ) as job:
        pretrained = store.load(start) if start else None
        trained = []
        for p in points:
            # Of several points some may start from scratch. A single one gets any file, for `run` to refuse it.
            own = pretrained if len(points) == 1 or p.starts_pretrained else None
            trained.append(stages.run(p, arguments.experiment, arguments.seeds, own))
        job.save(trained)


def _parse_points(name, words, model, description):
    """(arguments of the whole job, list of the parameters of each point): --also begins those of a further point.

    `name` stands in the help, whose text is `description`; `words` follow the family, whose `model` reads parameters.
    """
    more = f"{ALSO}: before the parameters of a further point of the sweep that the same job trains"
    parser = command_line.parser(name, description, epilog=more)
    parser.add_argument("--experiment", required=True, metavar="NAME", help="what the random generators derive from")
    parser.add_argument("--seeds", required=True, nargs="+", type=int, metavar="SEED", help="one network each")
    parser.add_argument("--pretrained", nargs="?", type=Path, metavar="FILE", help="pretrained shard to start from")
    if {"-h", "--help"} & set(words):  # else each point's parameters are parsed for themselves
        parameters.add_arguments(parser, model)
    arguments, rest = parser.parse_known_args(words)
    points: list[list[str]] = [[]]
    for word in rest:
        points.append([]) if word == ALSO else points[-1].append(word)
    return arguments, [command_line.options(model, point, name) for point in points]
