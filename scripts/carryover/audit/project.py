"""An audit from beginning to end: the configuration, what stands in the results folder, and the verdicts."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import yaml

from carryover.audit import chain, verdicts
from carryover.errors import UserError
from carryover.provenance import job_record
from carryover.provenance.environment import installed_versions
from carryover.workflow import startup


@dataclass(frozen=True)
class Audit:
    """What was found, {path: Finding}, of which chain, and the digests over its records and over notes, if any."""

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


def configuration(files, results=None):
    """The configuration in these YAML or JSON files, each an overlay on those before, as Snakemake lays them over.

    `results` takes the place of the results folder that it names. Raises UserError for a file that cannot be read.
    """
    whole = {}
    for file in files:
        try:
            text = Path(file).read_text(encoding="utf-8")
            # JSON is not quite YAML: that would read 1e-05 as text.
            read = json.loads(text) if Path(file).suffix == ".json" else yaml.load(text, Loader=startup.LOADER)
        except OSError as error:
            raise UserError(f"--configfile {file}: {error.strerror}") from None
        except (ValueError, yaml.YAMLError) as error:
            raise UserError(f"--configfile {file} cannot be read: {' '.join(str(error).split())}") from None
        if not isinstance(read, dict | None):
            raise UserError(f"--configfile {file}: it must hold sections of keys and values")
        whole = _laid_over(whole, read or {})
    folder = results or whole.get("pathvars", {}).get("results", "results")
    return _laid_over(whole, {"pathvars": {"results": job_record.shown(os.path.normpath(folder))}})


def _laid_over(below, above):
    both = {key: _laid_over(below[key], value) for key, value in above.items() if _are_sections(below.get(key), value)}
    return {**below, **above, **both}


def _are_sections(*values):
    return all(isinstance(value, dict) for value in values)


def audit(config, root, threads=None):
    """The `Audit` of the results, below the working folder, of a configuration of the project in the folder `root`.

    Reads every byte and writes nothing. Raises UserError for a configuration that breaks its schema.
    """
    whole = chain.gather(startup.valid_sweep(config, Path(root)), threads)
    return Audit(verdicts.judge(whole, root), whole, chain.root_digest(whole), chain.notes_digest(whole))
