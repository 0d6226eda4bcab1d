rule table:
    input:
        # what tables.{table}.data of the configuration names: datasets <results>/{experiment}/{measure}.nc, theory
        # curves, comparisons, and tables that ship with the project
        data=sweep.inputs("table"),
    output:
        markdown=report(
            "<results>/tables/{table}.md",
            category=sweep.paper("table"),
            labels=sweep.labels("table"),
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
        flags=sweep.flags("table"),
        key=sweep.key("table"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/table.py {params.flags:q} --data {input.data:q}'
        " --key {params.key} --wildcards table={wildcards.table}"
        " --output {output.markdown} {output.latex} > {log} 2>&1"
