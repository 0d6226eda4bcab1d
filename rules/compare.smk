rule compare:
    input:
        data=sweep.data("compare"),
        files=upstream.files("compare"),
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
        code=sweep.code("compare"),
        upstream=upstream.asked("compare"),
        flags=sweep.flags("compare"),
    shell:
        "python scripts/compare.py {params.flags:q} --data {input.data:q}"
        " --wildcards comparison={wildcards.comparison}"
        " --output {output.data} > {log} 2>&1"
