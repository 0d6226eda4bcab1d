rule crate:
    input:
        results=sweep.everything(),
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
        'python "$CARRYOVER_SCRIPTS"/crate.py {input.results}'
        " --output {output.crate} > {log} 2>&1"
