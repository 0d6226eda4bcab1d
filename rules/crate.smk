rule crate:
    input:
        collected=sweep.collected(),
        artifacts=sweep.artifacts(),
        claims_table=sweep.claims_table(),
        files=sweep.files("crate"),
    output:
        crate="<results>/crate.zip",
        record="<results>/crate.zip.json",
    log:
        "<results>/logs/crate.log",
    localrule: True
    conda:
        "../envs/provenance.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        key=sweep.key("crate"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/crate.py {input.collected} {input.artifacts} {input.claims_table}'
        " --output {output.crate} > {log} 2>&1"
