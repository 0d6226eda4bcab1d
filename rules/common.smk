from carryover import startup

sweep = startup.sweep(config, Path(workflow.basedir))


wildcard_constraints:
    experiment="|".join(config["experiments"]),
    measure="[a-z][a-z0-9_]*",
    curve="[a-z][a-z0-9_]*",
    claim="[a-z][a-z0-9_]*",
    figure="[a-z][a-z0-9_]*",
    point=r"[^/]+",
    block=r"\d+",
