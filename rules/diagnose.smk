rule diagnose:
    input:
        pretrained=sweep.inputs("diagnose", "pretrained"),
        finetuned=sweep.inputs("diagnose", "finetuned"),
        baseline=sweep.inputs("diagnose", "baseline"),
        files=sweep.files("diagnose"),
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
        flags=sweep.flags("diagnose"),
        key=sweep.key("diagnose"),
        folder=subpath(output.data, parent=True),
    shell:
        'python "$CARRYOVER_SCRIPTS"/diagnose.py {params.flags:q}'
        " --pretrained {input.pretrained:q} --finetuned {input.finetuned:q}"
        " --baseline {input.baseline:q}"
        " --key {params.key} --wildcards diagnosis={wildcards.diagnosis}"
        " --output {params.folder:q} > {log} 2>&1"
