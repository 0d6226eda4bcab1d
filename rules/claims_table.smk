rule claims_table:
    input:
        groups=sweep.checked(),
        files=upstream.files("claims_table"),
        templates=templates("claims_table"),
    output:
        data="<results>/claims.nc",
        markdown="<results>/claims.md",
        page=report(
            "<results>/claims.html",
            category="Claims",
            labels={"table": "all claims"},
        ),
        records=multiext("<results>/claims", ".nc.json", ".md.json", ".html.json"),
    log:
        "<results>/logs/claims.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=sweep.code("claims_table"),
        upstream=upstream.asked("claims_table"),
        flags=sweep.flags("claims_table"),
    shell:
        "python scripts/claims_table.py {input.groups} {params.flags:q}"
        " --output {output.data} {output.markdown} {output.page} > {log} 2>&1"
