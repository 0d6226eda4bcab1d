# No input or output, so that it always runs and repairs nothing.
rule audit:
    log:
        "<results>/logs/audit.log",
    localrule: True
    conda:
        "../envs/audit.yaml"
    threads: 2
    resources:
        mem_mb=2000,
    params:
        configuration=sweep.config_file(results),
        results=results,
    shell:
        'python "$CARRYOVER_SCRIPTS"/audit.py --configfile {params.configuration:q}'
        " --html {params.results:q}/audit.html > {log} 2>&1 && cat {log}"
