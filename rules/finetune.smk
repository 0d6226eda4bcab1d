rule finetune:
    input:
        # <results>/{experiment}/pretrain/{the point's source}/{block}.nc; nothing for networks from scratch
        pretrained=sweep.inputs("finetune"),
    output:
        data="<results>/{experiment}/finetune/{point}/{block}.nc",
        record="<results>/{experiment}/finetune/{point}/{block}.nc.json",
    log:
        "<results>/logs/{experiment}/finetune/{point}/{block}.log",
    priority: 1
    conda:
        "../envs/training.yaml"
    threads: 1
    resources:
        gpu=sweep.resource("gpu"),
        mem_mb=sweep.resource("mem_mb"),
        runtime=sweep.resource("runtime"),
    params:
        flags=sweep.flags("finetune"),
        key=sweep.key("finetune"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/finetune.py {params.flags:q} --pretrained {input.pretrained}'
        " --key {params.key} --wildcards experiment={wildcards.experiment} point={wildcards.point} block={wildcards.block}"
        " --output {output.data} > {log} 2>&1"
