rule measure:
    input:
        finetuned="<results>/{experiment}/finetune/{point}/{block}.nc",
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
        flags=sweep.flags("measure"),
        key=sweep.key("measure"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/measure.py {params.flags:q} --finetuned {input.finetuned}'
        " --key {params.key} --wildcards experiment={wildcards.experiment} measure={wildcards.measure}"
        " point={wildcards.point} block={wildcards.block}"
        " --output {output.data} > {log} 2>&1"
