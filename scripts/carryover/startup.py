"""What happens when the Snakefile is read: the configuration is checked, and results are held against their records."""

import json
import sys
from base64 import urlsafe_b64encode
from pathlib import Path

import yaml

from carryover import configuration
from carryover.errors import UserError
from carryover.sweep import Sweep


def sweep(config, root):
    """The checked configuration's `Sweep`; a user's mistake ends the run with one sentence."""
    try:
        schema = yaml.safe_load((root / "config/schema.yaml").read_text())
        configuration.validate(config, schema)
        results = config.get("pathvars", {}).get("results", "results")
        _writable(Path(results))
        return Sweep(config, schema, root / "scripts", results)
    except UserError as error:
        sys.exit(f"carryover: {error}")


def _writable(results):
    try:
        results.mkdir(parents=True, exist_ok=True)
        probe = results / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"cannot write into the results folder {results} ({error.strerror}).") from None
