from carryover.workflow.failures import Failures
from carryover.workflow.fork_server import ForkServer

sweep = startup.sweep(config, ROOT, workflow.is_main_process, workflow.configfiles)
# Where they lie, also within the prefix of a module.
results = str(workflow.modifier.path_modifier.modify(sweep.results))
# Snakemake's own report shows the captions of the papers' figures.
config.update(sweep.config)
fork_server, failures = ForkServer(), Failures(workflow.is_main_process)


wildcard_constraints:
    **sweep.constraints(),


onstart:
    shell.prefix(fork_server.start())


onsuccess:
    fork_server.stop()


onerror:
    fork_server.stop()
    failures.tell()
