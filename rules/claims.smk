rule claims:
    input:
        groups=sweep.checked(),
        files=upstream.files("claims"),
    output:
        data="<results>/claims.nc",
        markdown="<results>/claims.md",
        page="<results>/claims.html",
        records=multiext("<results>/claims", ".nc.json", ".md.json", ".html.json"),
    log:
        "<results>/logs/claims.log",
    benchmark:
        "<results>/benchmarks/claims.tsv"
    localrule: True
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=sweep.code("claims"),
        upstream=upstream.asked("claims"),
    shell:
        "python scripts/claims.py {input.groups}"
        " --output {output.data} {output.markdown} {output.page} > {log} 2>&1"
