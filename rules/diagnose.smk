rule diagnose:
    input:
        pretrained=sweep.data("diagnose", "pretrained"),
        finetuned=sweep.data("diagnose", "finetuned"),
        baseline=sweep.data("diagnose", "baseline"),
        style="config/figures.mplstyle",
        templates=templates("diagnose"),
    output:
        data="<results>/diagnoses/{diagnosis}/diagnosis.nc",
        figure="<results>/diagnoses/{diagnosis}/diagnosis.png",
        page="<results>/diagnoses/{diagnosis}/diagnosis.html",
        records=multiext(
            "<results>/diagnoses/{diagnosis}/diagnosis",
            ".nc.json",
            ".png.json",
            ".html.json",
        ),
    log:
        "<results>/logs/diagnoses/{diagnosis}/diagnosis.log",
    conda:
        "../envs/diagnose.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        code=sweep.code("diagnose"),
        flags=sweep.flags("diagnose"),
        folder=subpath(output.data, parent=True),
    shell:
        "python scripts/diagnose.py {params.flags:q}"
        " --pretrained {input.pretrained:q} --finetuned {input.finetuned:q}"
        " --baseline {input.baseline:q} --style {input.style}"
        " --wildcards diagnosis={wildcards.diagnosis}"
        " --output {params.folder:q} > {log} 2>&1"
