rule check_claims:
    input:
        data=sweep.data("check_claims"),
        files=upstream.files("check_claims"),
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
        code=sweep.code("check_claims"),
        upstream=upstream.asked("check_claims"),
        flags=sweep.flags("check_claims"),
    shell:
        "python scripts/check_claims.py {params.flags:q} --data {input.data:q}"
        " --wildcards claim={wildcards.claim}"
        " --output {output.data} > {log} 2>&1"
