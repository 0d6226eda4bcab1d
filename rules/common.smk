from carryover.config.artifacts import templates
from carryover.workflow import startup
from carryover.workflow.upstream import Upstream

sweep = startup.sweep(config, Path(workflow.basedir), workflow.is_main_process)
upstream = Upstream(sweep)


wildcard_constraints:
    **sweep.constraints(),
