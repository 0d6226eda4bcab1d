from carryover import startup

sweep = startup.sweep(config, Path(workflow.basedir))


wildcard_constraints:
    **sweep.constraints(),
