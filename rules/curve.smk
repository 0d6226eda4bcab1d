rule curve:
    output:
        data="<results>/theory/{curve}.nc",
        record="<results>/theory/{curve}.nc.json",
    log:
        "<results>/logs/theory/{curve}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        flags=sweep.flags("curve"),
        key=sweep.key("curve"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/curve.py {params.flags:q}'
        " --key {params.key} --wildcards curve={wildcards.curve}"
        " --output {output.data} > {log} 2>&1"
