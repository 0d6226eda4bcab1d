rule check_claims:
    input:
        # what claims.{claim}.data of the configuration names: datasets <results>/{experiment}/{measure}.nc, theory
        # curves, comparisons, and tables that ship with the project
        data=sweep.inputs("check_claims"),
    output:
        data="<results>/claims/{claim}.nc",
        record="<results>/claims/{claim}.nc.json",
    log:
        "<results>/logs/claims/{claim}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        flags=sweep.flags("check_claims"),
        key=sweep.key("check_claims"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/check_claims.py {params.flags:q} --data {input.data:q}'
        " --key {params.key} --wildcards claim={wildcards.claim}"
        " --output {output.data} > {log} 2>&1"
