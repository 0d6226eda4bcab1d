rule claims_table:
    input:
        # <results>/claims/{claim}.nc of every group of the configuration
        groups=sweep.inputs("claims_table"),
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
        flags=sweep.flags("claims_table"),
        key=sweep.key("claims_table"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/claims_table.py {input.groups} {params.flags:q}'
        " --key {params.key} --output {output.data} {output.markdown} {output.page} > {log} 2>&1"
