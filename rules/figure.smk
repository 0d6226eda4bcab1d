rule figure:
    input:
        data=sweep.data("figure"),
        style="config/figures.mplstyle",
        files=upstream.files("figure"),
    output:
        png=report(
            "<results>/figures/{figure}.png",
            caption="report/figure.rst",
            category=startup.paper_of(sweep, "figure"),
            labels={"figure": "{figure}"},
        ),
        svg="<results>/figures/{figure}.svg",
        pdf="<results>/figures/{figure}.pdf",
        records=multiext(
            "<results>/figures/{figure}", ".png.json", ".svg.json", ".pdf.json"
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
        code=sweep.code("figure"),
        upstream=upstream.asked("figure"),
        flags=sweep.flags("figure"),
    shell:
        "python scripts/figure.py {params.flags:q} --data {input.data:q} --style {input.style}"
        " --wildcards figure={wildcards.figure}"
        " --output {output.png} {output.svg} {output.pdf} > {log} 2>&1"
