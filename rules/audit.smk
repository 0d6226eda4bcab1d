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
        configuration=startup.effective(sweep, results),
        results=results,
    shell:
        'python "$CARRYOVER_SCRIPTS"/audit.py {params.results:q} --configfile {params.configuration:q}'
        " --html {params.results:q}/audit.html > {log} 2>&1 && cat {log}"
