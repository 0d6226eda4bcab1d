from carryover.workflow.fork_server import ForkServer

sweep = startup.sweep(config, ROOT, workflow.is_main_process, workflow.configfiles)
# Snakemake's own report shows the captions of the papers' figures.
config.update(sweep.config)
fork_server = ForkServer()


wildcard_constraints:
    **sweep.constraints(),


onstart:
    shell.prefix(fork_server.start())


onsuccess:
    fork_server.stop()


onerror:
    fork_server.stop()
