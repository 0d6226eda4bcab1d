rule finetune:
    input:
        pretrained=sweep.upstream(
            "<results>/{experiment}/pretrain/{point}/{block}.nc", "finetune"
        ),
        files=upstream.files("finetune"),
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
        code=sweep.code("finetune"),
        upstream=upstream.asked("finetune"),
        flags=sweep.flags("finetune"),
    shell:
        "python scripts/finetune.py {params.flags:q} --pretrained {input.pretrained}"
        " --wildcards experiment={wildcards.experiment} point={wildcards.point} block={wildcards.block}"
        " --output {output.data} > {log} 2>&1"
