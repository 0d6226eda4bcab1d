from carryover import startup

sweep = startup.sweep(config, Path(workflow.basedir), workflow.is_main_process)


wildcard_constraints:
    **sweep.constraints(),
