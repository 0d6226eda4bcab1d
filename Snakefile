import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")
# The folder of this file, also where another workflow uses it as a module.
ROOT = Path(str(workflow.current_basedir))
sys.path.insert(0, str(ROOT / "scripts"))
from carryover.workflow import startup, variables

variables.settle()


configfile: startup.own(ROOT, "config/config.yaml")


report: "rules/report/workflow.rst"


include: "rules/common.smk"
include: "rules/pretrain.smk"
include: "rules/finetune.smk"
include: "rules/measure.smk"
include: "rules/collect.smk"
include: "rules/unarchive.smk"
include: "rules/curve.smk"
include: "rules/compare.smk"
include: "rules/check_claims.smk"
include: "rules/claims_table.smk"
include: "rules/figure.smk"
include: "rules/table.smk"
include: "rules/report.smk"
include: "rules/crate.smk"
include: "rules/audit.smk"


rule all:
    default_target: True
    input:
        sweep.everything(),


# No output, so that it always runs: it only says where they are.
rule first:
    input:
        sweep.first(),
    log:
        "<results>/logs/first.log",
    localrule: True
    conda:
        "envs/plotting.yaml"
    shell:
        "printf '%s\\n' 'One figure of each paper:' {input:q} > {log} && cat {log}"


# The page of the last audit, for Snakemake's report: snakemake audit, then snakemake --report jobs.html all audited
rule audited:
    output:
        page=report(
            "<results>/audit.html",
            category="Audit",
            labels={"table": "all results"},
        ),
    log:
        "<results>/logs/audited.log",
    localrule: True
    conda:
        "envs/audit.yaml"
    params:
        configuration=sweep.config_file(results),
    shell:
        'python "$CARRYOVER_SCRIPTS"/audit.py --configfile {params.configuration:q}'
        " --html {output.page:q} > {log} 2>&1 || test -s {output.page:q}"
