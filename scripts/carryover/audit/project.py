"""An audit from beginning to end: the configuration, what stands in the results folder, and the verdicts."""

import os
from dataclasses import dataclass
from pathlib import Path

from carryover.audit import chain, verdicts
from carryover.config import files
from carryover.provenance import job_record
from carryover.provenance.environment import installed_versions
from carryover.workflow import startup


@dataclass(frozen=True)
class Audit:
    """The findings, {path: Finding}, on which chain, and the digests over its records and over notes, if any."""

    findings: dict
    chain: chain.Chain
    root: str
    notes: str | None

    @property
    def absent(self):
        """Packages that a record names and that are not installed here, so that their versions are not compared."""
        named = {name for record in self.chain.records.values() for name in record["environment"]["versions"]}
        return sorted(named - installed_versions().keys())


def add_configuration(parser):
    """The flag of a command line that names configuration files."""
    parser.add_argument(
        "--configfile",
        nargs="+",
        default=["config/config.yaml"],
        metavar="FILE",
        help="each is laid over those before it (default: config/config.yaml)",
    )


def configuration(names, results=None):
    """The configuration in the YAML or JSON files of these names, each laid over those before as Snakemake does.

    `results` takes the place of the results folder that it names. Raises UserError for a file that cannot be read.
    """
    whole = {}
    for file in names:
        whole = files.laid_over(whole, files.read(file, str(file)))
    folder = results or whole.get("pathvars", {}).get("results", "results")
    return files.laid_over(whole, {"pathvars": {"results": job_record.shown(os.path.normpath(folder))}})


def audit(config, root, threads=None):
    """The `Audit` of the results, below the working folder, of a configuration of the project in the folder `root`.

    Reads every byte and writes nothing. Raises UserError for a configuration that breaks its schema.
    """
    whole = chain.gather(startup.valid_sweep(config, Path(root), reading=True), threads)
    return Audit(verdicts.judge(whole, root), whole, chain.root_digest(whole), chain.notes_digest(whole))
