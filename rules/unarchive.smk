# An archived dataset that is what the configuration asks for, in the place of `collect` and of all training above it.
rule unarchive:
    input:
        # {archive}/{dataset}.nc.xz
        packed=sweep.inputs("unarchive"),
    output:
        data="<results>/{dataset}.nc",
        record="<results>/{dataset}.nc.json",
    log:
        "<results>/logs/{dataset}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        flags=sweep.flags("unarchive"),
        key=sweep.key("unarchive"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/unarchive.py {input.packed} {params.flags:q}'
        " --key {params.key} --wildcards dataset={wildcards.dataset}"
        " --output {output.data} > {log} 2>&1"


ruleorder: unarchive > collect
