rule report:
    input:
        results=sweep.everything(),
    output:
        page="<results>/report.html",
        record="<results>/report.html.json",
    log:
        "<results>/logs/report.log",
    localrule: True
    conda:
        "../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        key=sweep.key("report"),
        configuration=sweep.config_file(results),
        results=[results],
    shell:
        'python "$CARRYOVER_SCRIPTS"/report.py {params.results:q} --configfile {params.configuration:q}'
        " --output {output.page} > {log} 2>&1"
