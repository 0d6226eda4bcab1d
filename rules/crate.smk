rule crate:
    input:
        collected=sweep.collected(),
        claims=sweep.made_of_data("check_claims"),
        figures=sweep.made_of_data("figure"),
        tables=sweep.made_of_data("table"),
        diagnoses=sweep.made_of_data("diagnose"),
        claims_table=sweep.claims_table(),
        files=upstream.files("crate"),
        signature=startup.signature(sweep),
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
        code=sweep.code("crate"),
        upstream=upstream.asked("crate"),
    shell:
        "python scripts/crate.py {input.collected} {input.claims} {input.figures}"
        " {input.tables} {input.diagnoses} {input.claims_table} --output {output.crate} > {log} 2>&1"
