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
        code=sweep.code("curve"),
        flags=sweep.flags("curve"),
    shell:
        "python scripts/curve.py {params.flags:q}"
        " --wildcards curve={wildcards.curve}"
        " --output {output.data} > {log} 2>&1"
