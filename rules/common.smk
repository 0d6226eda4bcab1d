from carryover.config.artifacts import templates
from carryover.workflow import startup
from carryover.workflow.fork_server.running import ForkServer
from carryover.workflow.upstream import Upstream

sweep = startup.sweep(
    config, Path(workflow.basedir), workflow.is_main_process, workflow.configfiles
)
upstream = Upstream(sweep)
# Snakemake's own report shows the captions of the papers' figures.
config.update(sweep.config)
fork_server = ForkServer()


wildcard_constraints:
    **sweep.constraints(),


onstart:
    shell.prefix(fork_server.start(sweep))


onsuccess:
    fork_server.stop()


onerror:
    fork_server.stop()
