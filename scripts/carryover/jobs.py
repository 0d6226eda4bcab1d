"""What the scripts have in common: a plug-in named on the command line, its flags, one artefact and its record."""

import argparse
import importlib
import sys
from dataclasses import asdict
from pathlib import Path

from carryover import parameters, provenance, store
from carryover.configuration import plugins
from carryover.errors import UserError
from carryover.progress import Progress


def script(main):
    """Run a script's main; a user's mistake ends it with one sentence and exit code 1."""
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(f"{Path(sys.argv[0]).stem}: {error}")


def parser(rule, description, kind=None, flags=None):
    """A parser with the flags of every job, and those of its plug-in: (parser, class of the plug-in's parameters).

    `kind` is the folder of plug-ins, `flags` maps a plug-in's name to its dataclass of parameters.
    """
    made = argparse.ArgumentParser(prog=rule, description=description, allow_abbrev=False)
    made.add_argument("--wildcards", nargs="+", default=[], metavar="KEY=VALUE", help="kept in the record")
    made.add_argument("--output", nargs="+", required=True, type=Path, help="where the result goes")
    return made


def train(stage, argv, description):
    """Pretrain or finetune one shard: `<stage>.py FAMILY --experiment … --seeds … --output …`."""
    made = parser(stage, description)
    family = _plugin(made, argv, "families", "family")
    module = importlib.import_module(f"carryover.families.{family}.{stage}")
    made.add_argument("--experiment", required=True, help="name that the random generators are derived from")
    made.add_argument("--seeds", required=True, nargs="+", type=int)
    made.add_argument("--pretrained", nargs="?", type=Path, help="shard to start from")
    parameters.add_arguments(made, module.Parameters)
    arguments = made.parse_args(argv)
    p = parameters.from_arguments(module.Parameters, arguments)
    solver = importlib.import_module(f"carryover.families.{family}.{p.solver}")
    inputs = [arguments.pretrained] if arguments.pretrained else []
    with _job(stage, arguments, p, [module, solver], inputs, seeds=arguments.seeds) as job:
        start = {"pretrained": store.load(arguments.pretrained)} if inputs else {}
        with Progress(f"{stage} {family}") as progress:
            job.save(module.run(p, arguments.experiment, arguments.seeds, solver.solve, progress=progress.update, **start))
