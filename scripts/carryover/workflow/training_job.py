"""Training one shard: what pretrain.py and finetune.py share."""

import argparse
from pathlib import Path

from carryover.config import parameters
from carryover.families import contract, stages
from carryover.provenance.environment import numerical
from carryover.provenance.job_record import Job
from carryover.training import allocation
from carryover.training.resume import StateFile, resuming
from carryover.workflow import command_line, shards
from carryover.workflow.command_line import ALSO
from carryover.workflow.progress import Progress


def main(stage, argv, description):
    """`<stage>.py FAMILY --experiment NAME --seeds 0 1 … [--pretrained FILE] --output FILE PARAMETERS [--also …]`."""
    family = command_line.chosen(argv, "families", stage, description)
    module = contract.stage(family, stage)
    arguments, points = _parsed(
        f"{stage}.py {family}", argv[1:], parameters.model_of(f"families.{family}", stage), description
    )
    start, solvers = arguments.pretrained, [contract.solver(family, p.solver) for p in points]
    files = [file for p in points for file in parameters.files_read(p)]
    allocation.keep_freed()
    with Job(
        rule=stage,
        parameters=points[0] if len(points) == 1 else {"together": points},
        wildcards=command_line.wildcards(arguments),
        inputs=[*([start] if start else []), *dict.fromkeys(files)],
        outputs=arguments.output,
        modules=[stage, module.__name__, *dict.fromkeys(solver.__name__ for solver in solvers)],
        seeds=shards.checked_seeds(arguments.seeds),
        device=getattr(points[0], "device", None),
    ) as job:
        pretrained = shards.pretrained(start, arguments.experiment) if start else None
        saved = Path(f"{arguments.output[0]}.saved")
        states = StateFile(saved, job.request, numerical(job.device))
        trained = []
        with (
            command_line.naming_what_is_missing(module.problems, [start]),
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
        job.went_on(**states.before)
        job.save(trained)
    saved.unlink(missing_ok=True)  # now that the result is in its place


def _parsed(name, words, kind, description):
    """What is asked of all, and the parameters of each point that is trained, which --also keeps apart."""
    common = command_line.parser(name, description, add_help=False)
    common.add_argument("--experiment", required=True, metavar="NAME", help="what the random generators derive from")
    common.add_argument("--seeds", required=True, nargs="+", type=int, metavar="SEED", help="one network each")
    common.add_argument("--pretrained", nargs="?", type=Path, metavar="FILE", help="pretrained shard to start from")
    own = argparse.ArgumentParser(prog=name, allow_abbrev=False, add_help=False)
    parameters.add_arguments(own, kind)
    if {"-h", "--help"} & set(words):
        more = f"{ALSO}: before the parameters of a further point of the sweep that the same job trains"
        argparse.ArgumentParser(prog=name, description=description, epilog=more, parents=[common, own]).print_help()
        raise SystemExit
    arguments, rest = common.parse_known_args(words)
    points = [[]]
    for word in rest:
        if word == ALSO:
            points.append([])
        else:
            points[-1].append(word)
    return arguments, [parameters.from_arguments(kind, own.parse_args(point)) for point in points]
