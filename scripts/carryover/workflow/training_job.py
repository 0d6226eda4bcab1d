"""Training one shard: what pretrain.py and finetune.py share."""

import shutil
from pathlib import Path

from carryover.config import parameters
from carryover.families import contract, running
from carryover.provenance.environment import numerical
from carryover.provenance.job_record import Job
from carryover.training import allocation
from carryover.training.course import saving
from carryover.training.saved_states import SavedStates
from carryover.workflow import command_line, shards
from carryover.workflow.asked_in_vain import lacking
from carryover.workflow.progress import Progress


def main(stage, argv, description):
    """`<stage>.py FAMILY --experiment NAME --seeds 0 1 … [--pretrained FILE] --output FILE`."""
    family = command_line.chosen(argv, "families", stage, description)
    module = contract.stage(family, stage)
    parser = command_line.parser(f"{stage}.py {family}", description)
    parser.add_argument("--experiment", required=True, metavar="NAME", help="what the random generators derive from")
    parser.add_argument("--seeds", required=True, nargs="+", type=int, metavar="SEED", help="one network each")
    parser.add_argument("--pretrained", nargs="?", type=Path, metavar="FILE", help="pretrained shard to start from")
    parameters.add_arguments(parser, module.Parameters)
    arguments = parser.parse_args(argv[1:])
    p = parameters.from_arguments(module.Parameters, arguments)
    start, solver = arguments.pretrained, contract.solver(family, p.solver)
    allocation.keep_freed()
    with Job(
        rule=stage,
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        inputs=[*([start] if start else []), *parameters.files_read(p)],
        outputs=arguments.output,
        modules=[stage, module.__name__, solver.__name__],
        seeds=shards.checked_seeds(arguments.seeds),
        device=getattr(p, "device", None),
    ) as job:
        pretrained = shards.pretrained(start, arguments.experiment) if start else None
        folder = Path(f"{arguments.output[0]}.saved")
        states = SavedStates(folder, job.request, numerical(job.device))
        with (
            allocation.within_memory(p),
            lacking(f"{stage} of {family}", start, pretrained),
            saving(states),
            Progress(f"{stage} {arguments.experiment}") as progress,
        ):
            trained = running.run(
                module, p, arguments.experiment, arguments.seeds, solver.solve, pretrained, progress
            )  # fmt: skip
        job.went_on(**states.before)
        job.save(trained)
    shutil.rmtree(folder, ignore_errors=True)  # now that the result is in its place
