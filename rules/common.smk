from carryover import startup
from carryover.upstream import Upstream

sweep = startup.sweep(config, Path(workflow.basedir), workflow.is_main_process)
upstream = Upstream(sweep)


wildcard_constraints:
    **sweep.constraints(),
