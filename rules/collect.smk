rule collect:
    input:
        shards=sweep.shards("<results>/{experiment}/{stage}/{point}/{block}.nc"),
        files=upstream.files("collect"),
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
        code=sweep.code("collect"),
        upstream=upstream.asked("collect"),
        flags=sweep.flags("collect"),
    shell:
        "python scripts/collect.py {input.shards} {params.flags:q}"
        " --wildcards experiment={wildcards.experiment} measure={wildcards.measure}"
        " --output {output.data} > {log} 2>&1"
