"""The configuration of a workflow, as Snakemake reads it or as other programs do, and the checks of it at the start."""

import os
import sys
from pathlib import Path

from carryover.config import files
from carryover.config.configuration import validate
from carryover.errors import UserError, sentence
from carryover.provenance import job_record
from carryover.workflow.causes import notes
from carryover.workflow.sweep import Sweep


def own(root, file):
    """The configuration file that `files.find_file` finds, for the Snakefile in the folder `root`.

    One that cannot be read, or a folder or locale in which no job can run, ends the run with one sentence, where
    Snakemake would show a trace.
    """
    found = files.find_file(file, root)
    try:
        if set("{}") & set(str(Path(root).absolute())):
            raise UserError(f"Snakemake runs no workflow in a folder with braces in its path, {Path(root).absolute()}.")
        "ρ".encode(sys.getfilesystemencoding())  # titles have such letters, and stand on the command lines of jobs
    except UnicodeEncodeError:
        sys.exit("carryover: this locale writes no letters like ρ: set PYTHONUTF8=1, or LC_ALL=C.UTF-8.")
    except UserError as error:
        sys.exit(f"carryover: {sentence(error)}")
    try:
        validate({"pathvars": files.read(found).get("pathvars", {})})  # Snakemake takes these before `sweep` is asked
    except UserError as error:
        sys.exit(f"carryover: {sentence(error)}")
    return found


def sweep(config, root, first, read=()):
    """The `Sweep` of Snakemake's dictionary `config`, checked, for the Snakefile in the folder `root`; a user's mistake
    ends the run with one sentence.

    `read` are the files that Snakemake read the configuration from: it takes the last of duplicate keys in silence.
    Only the `first` Snakemake of a run checks files and results: on a cluster every job starts another one.
    """
    try:
        for file in read if first else ():
            files.read(os.path.relpath(file))
        made = Sweep(config, root)
        # The rules' commands begin with it: no command or parameter of a job may depend on where the scripts lie.
        os.environ["CARRYOVER_SCRIPTS"] = os.path.relpath(made.scripts)
        if first:
            made.check()
            for line in notes(made):
                print(f"carryover: {line}", file=sys.stderr)
        return made
    except UserError as error:
        sys.exit(f"carryover: {sentence(error)}")


def add_configuration(parser, name="--configfile", nargs="+"):
    """Add the flag that names configuration files, or, for a `name` without dashes, positional arguments."""
    text = "each is laid over those before it (default: config/config.yaml)"
    parser.add_argument(name, nargs=nargs, default=["config/config.yaml"], metavar="FILE", help=text)


def configuration(names):
    """The configuration, a dictionary, in YAML or JSON files, each laid over those before as Snakemake does; UserError
    for a file that cannot be read."""
    whole: dict = {}
    for file in names:
        whole = files.overlaid(whole, files.read(file))
    return whole


def sweep_of_files(names):
    """The `Sweep` of a configuration in files, of the workflow that this library belongs to."""
    root = job_record.SCRIPTS.parent
    if not (root / "Snakefile").is_file():
        raise UserError(f"the library in {job_record.SCRIPTS} has no workflow: run that of a project's scripts.")
    return Sweep(configuration(names), root)
