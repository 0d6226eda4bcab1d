rule measure:
    input:
        finetuned="<results>/{experiment}/finetune/{point}/{block}.nc",
        files=upstream.files("measure"),
    output:
        data="<results>/{experiment}/measure/{measure}/{point}/{block}.nc",
        record="<results>/{experiment}/measure/{measure}/{point}/{block}.nc.json",
    log:
        "<results>/logs/{experiment}/measure/{measure}/{point}/{block}.log",
    conda:
        "../envs/training.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        code=sweep.code("measure"),
        upstream=upstream.asked("measure"),
        flags=sweep.flags("measure"),
    shell:
        "python scripts/measure.py {params.flags:q} --finetuned {input.finetuned}"
        " --wildcards experiment={wildcards.experiment} measure={wildcards.measure}"
        " point={wildcards.point} block={wildcards.block}"
        " --output {output.data} > {log} 2>&1"
