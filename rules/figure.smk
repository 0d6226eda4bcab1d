rule figure:
    input:
        # what figures.{figure}.data of the configuration names: datasets <results>/{experiment}/{measure}.nc, theory
        # curves, comparisons, and tables that ship with the project
        data=sweep.inputs("figure"),
    output:
        png=report(
            "<results>/figures/{figure}.png",
            caption="report/figure.rst",
            category=sweep.paper("figure"),
            labels=sweep.labels("figure"),
        ),
        pdf=expand("<results>/figures/{{figure}}{pdf}", pdf=sweep.formats("figure")[1:]),
        records=expand(
            "<results>/figures/{{figure}}{format}.json", format=sweep.formats("figure")
        ),
    log:
        "<results>/logs/figures/{figure}.log",
    localrule: True
    conda:
        "../envs/plotting.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        flags=sweep.flags("figure"),
        key=sweep.key("figure"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/figure.py {params.flags:q} --data {input.data:q}'
        " --key {params.key} --wildcards figure={wildcards.figure}"
        " --output {output.png} {output.pdf} > {log} 2>&1"
