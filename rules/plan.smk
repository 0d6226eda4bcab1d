# No input or output, so that it always runs: it only prints.
rule plan:
    log:
        "<results>/logs/plan.log",
    localrule: True
    conda:
        "../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        configuration=startup.effective(sweep),
    shell:
        "python scripts/plan.py --configfile {params.configuration:q} > {log} 2>&1 && cat {log}"
