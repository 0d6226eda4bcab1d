"""The configuration of a project whose results are audited, checked or shown."""

import os
from pathlib import Path

from carryover.audit import findings
from carryover.config import files
from carryover.errors import UserError
from carryover.provenance import job_record
from carryover.workflow import startup


def root():
    """The folder of the workflow that this library belongs to."""
    folder = job_record.SCRIPTS.parent
    if not (folder / "Snakefile").is_file():
        raise UserError(f"the library in {job_record.SCRIPTS} has no workflow: run that of a project's scripts.")
    return folder


def add_configuration(parser, name="--configfile", nargs="+"):
    """The flag of a command line that names configuration files, or their place in it."""
    text = "each is laid over those before it (default: config/config.yaml)"
    parser.add_argument(name, nargs=nargs, default=["config/config.yaml"], metavar="FILE", help=text)


def configuration(names, results=None):
    """The configuration in YAML or JSON files, each laid over those before as Snakemake does.

    `results` replaces the results folder that it names. Raises UserError for a file that cannot be read.
    """
    whole = {}
    for file in names:
        whole = files.overlaid(whole, files.read(file, str(file)))
    given = whole.get("pathvars", {})
    if not isinstance(given, dict) or given.keys() - {"results"} or not all(isinstance(f, str) for f in given.values()):
        raise UserError(f"pathvars: {given} is not allowed: it must be {{results: FOLDER}}")
    folder = results or given.get("results", "results")
    return files.overlaid(whole, {"pathvars": {"results": job_record.shown(os.path.normpath(folder))}})


def audit(config, root):
    """The `findings.Audit` of the results of a configuration of the project in the folder `root`."""
    return findings.audit(startup.valid_sweep(config, Path(root), reading=True))
