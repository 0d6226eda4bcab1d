rule claim:
    input:
        data=sweep.data("claim"),
        files=upstream.files("claim"),
    output:
        data="<results>/claims/{claim}.nc",
        record="<results>/claims/{claim}.nc.json",
    log:
        "<results>/logs/claims/{claim}.log",
    benchmark:
        "<results>/benchmarks/claims/{claim}.tsv"
    localrule: True
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=sweep.code("claim"),
        upstream=upstream.asked("claim"),
        flags=sweep.flags("claim"),
    shell:
        "python scripts/claim.py {params.flags:q} --data {input.data}"
        " --wildcards claim={wildcards.claim}"
        " --output {output.data} > {log} 2>&1"
