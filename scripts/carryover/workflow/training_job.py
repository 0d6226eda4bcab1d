"""Training one shard: the common part of pretrain.py and finetune.py."""

import argparse
from pathlib import Path

from carryover.config import parameters
from carryover.errors import UserError
from carryover.families import contract, stages
from carryover.provenance import store
from carryover.provenance.environment import environment
from carryover.provenance.job_record import Job
from carryover.training import allocation
from carryover.training.resume import StateFile, resuming
from carryover.workflow import command_line
from carryover.workflow.command_line import ALSO
from carryover.workflow.plugin_job import naming_what_is_missing
from carryover.workflow.progress import Progress


def main(stage, argv, description):
    """`<stage>.py FAMILY --experiment NAME --seeds 0 1 … [--pretrained FILE] --output FILE PARAMETERS [--also …]`."""
    family = command_line.chosen(argv, "families", stage, description)
    module, model = contract.stage(family, stage), parameters.model_of(f"families.{family}", stage)
    arguments, points = _parsed(f"{stage}.py {family}", argv[1:], model, description)
    start, solvers = arguments.pretrained, [contract.solver(family, p.solver) for p in points]
    files = [file for p in points for file in parameters.files_read(p)]
    if len(set(arguments.seeds)) < len(arguments.seeds) or min(arguments.seeds) < 0:
        raise UserError("--seeds must be different whole numbers from 0")
    allocation.keep_freed()
    with Job(
        rule=stage,
        parameters=points[0] if len(points) == 1 else {"together": points},
        wildcards=dict(arguments.wildcards),
        inputs=[*([start] if start else []), *dict.fromkeys(files)],
        outputs=arguments.output,
        modules=[stage, module.__name__, *dict.fromkeys(solver.__name__ for solver in solvers)],
        seeds=arguments.seeds,
        device=getattr(points[0], "device", None),
    ) as job:
        pretrained = _pretrained(start, arguments.experiment) if start else None
        saved = Path(f"{arguments.output[0]}.saved")
        states = StateFile(saved, job.request, environment(job.device))
        trained = []
        with (
            naming_what_is_missing(module.problems, [start]),
            resuming(states),
            Progress(f"{stage} {arguments.experiment}") as progress,
        ):
            for p, solver in zip(points, solvers, strict=True):
                # of several, some may start from scratch
                own = pretrained if len(points) == 1 or stages.starts(p) else None
                with allocation.within_memory():
                    trained.append(
                        stages.run(module, p, arguments.experiment, arguments.seeds, solver.solve, own, progress)
                    )
        job.resumed = states.before
        job.save(trained)
    saved.unlink(missing_ok=True)  # now that the result is in its place


def _parsed(name, words, model, description):
    """(arguments of the whole job, parameters of each point): --also begins the parameters of a further point."""
    common = command_line.parser(name, description, add_help=False)
    common.add_argument("--experiment", required=True, metavar="NAME", help="what the random generators derive from")
    common.add_argument("--seeds", required=True, nargs="+", type=int, metavar="SEED", help="one network each")
    common.add_argument("--pretrained", nargs="?", type=Path, metavar="FILE", help="pretrained shard to start from")
    if {"-h", "--help"} & set(words):
        more = f"{ALSO}: before the parameters of a further point of the sweep that the same job trains"
        whole = argparse.ArgumentParser(prog=name, description=description, epilog=more, parents=[common])
        parameters.add_arguments(whole, model)
        whole.parse_args(["--help"])
    arguments, rest = common.parse_known_args(words)
    points = [[]]
    for word in rest:
        points.append([]) if word == ALSO else points[-1].append(word)
    return arguments, [command_line.options(model, point, name) for point in points]


def _pretrained(path, experiment):
    """The networks that finetuning of an experiment starts from; UserError for a shard of another experiment."""
    start = store.load(path)
    made = store.request(start)
    if made and (made["rule"] != "pretrain" or made["wildcards"].get("experiment", experiment) != experiment):
        raise UserError(f"--pretrained {path}: it does not hold pretrained networks of {experiment}")
    return start
