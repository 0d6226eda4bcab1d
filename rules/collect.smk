rule collect:
    input:
        # <results>/{experiment}/finetune/{point}/{block}.nc of every point and block that the measure applies to;
        # where jobs of their own measure them, <results>/{experiment}/measure/{measure}/{point}/{block}.nc
        shards=sweep.inputs("collect"),
    output:
        data="<results>/{experiment}/{measure}.nc",
        record="<results>/{experiment}/{measure}.nc.json",
    log:
        "<results>/logs/{experiment}/collect/{measure}.log",
    conda:
        "../envs/training.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        flags=sweep.flags("collect"),
        key=sweep.key("collect"),
    shell:
        'python "$CARRYOVER_SCRIPTS"/collect.py {input.shards} {params.flags:q}'
        " --key {params.key} --wildcards experiment={wildcards.experiment} measure={wildcards.measure}"
        " --output {output.data} > {log} 2>&1"
