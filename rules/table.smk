rule table:
    input:
        data=sweep.data("table"),
        files=upstream.files("table"),
    output:
        markdown=report(
            "<results>/tables/{table}.md",
            category=startup.paper_of(sweep, "table"),
            labels={"table": "{table}"},
        ),
        latex="<results>/tables/{table}.tex",
        records=multiext("<results>/tables/{table}", ".md.json", ".tex.json"),
    log:
        "<results>/logs/tables/{table}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=sweep.code("table"),
        upstream=upstream.asked("table"),
        flags=sweep.flags("table"),
    shell:
        "python scripts/table.py {params.flags:q} --data {input.data:q}"
        " --wildcards table={wildcards.table}"
        " --output {output.markdown} {output.latex} > {log} 2>&1"
