rule compare:
    input:
        # what comparisons.{comparison}.data of the configuration names: datasets <results>/{experiment}/{measure}.nc, theory
        # curves, comparisons, and tables that ship with the project
        data=sweep.inputs("compare"),
    output:
        data="<results>/comparisons/{comparison}.nc",
        record="<results>/comparisons/{comparison}.nc.json",
    log:
        "<results>/logs/comparisons/{comparison}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        flags=sweep.flags("compare"),
        key=sweep.key("compare"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/compare.py {params.flags:q} --data {input.data:q}'
        " --key {params.key} --wildcards comparison={wildcards.comparison}"
        " --output {output.data} > {log} 2>&1"
