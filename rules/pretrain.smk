# Long jobs first, so that the short ones that are made of them fill the cores at the end.
rule pretrain:
    output:
        data="<results>/{experiment}/pretrain/{point}/{block}.nc",
        record="<results>/{experiment}/pretrain/{point}/{block}.nc.json",
    log:
        "<results>/logs/{experiment}/pretrain/{point}/{block}.log",
    priority: 2
    conda:
        "../envs/training.yaml"
    threads: 1
    resources:
        gpu=sweep.resource("gpu"),
        mem_mb=sweep.resource("mem_mb"),
        runtime=sweep.resource("runtime"),
    params:
        flags=sweep.flags("pretrain"),
        key=sweep.key("pretrain"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/pretrain.py {params.flags:q}'
        " --key {params.key} --wildcards experiment={wildcards.experiment} point={wildcards.point} block={wildcards.block}"
        " --output {output.data} > {log} 2>&1"
