"""What a result is made of, on and on up to training: what is asked for there, and the files from outside (standard
library only).

Snakemake deletes what a job is to make anew, and does not miss it where the job fails: what was made of it stands, and
nothing that asks for that asks for more. So every job has what is asked for upstream of it among its parameters, and is
to run, with all that is missing above it, until what it was made of is what is asked for now.
"""

import hashlib
import json
from functools import cache
from itertools import chain

from carryover.config.artifacts import MADE_OF_DATA, STAGES

_EVERYTHING = ("report", "crate")  # made of all other results


class Upstream:
    """Functions of wildcards for the rules of a `Sweep`."""

    def __init__(self, sweep):
        self.sweep = sweep
        self._asked, self._files = cache(self._asked_for), cache(self._files_of)
        self._jobs = {}

    def asked(self, rule):
        """A digest over what is asked for of every job that a job of `rule` hangs on: rule, flags and code."""
        return lambda wildcards: _digest(sorted(self._asked(path) for path in self.made_of(rule, wildcards)))

    def files(self, rule):
        """The files from outside that every job reads that a job of `rule` hangs on, and those of its own training."""

        def inputs(wildcards):
            own = self.sweep.files(rule)(wildcards) if rule in STAGES else []
            above = (self._files(path) for path in self.made_of(rule, wildcards) if path in self.jobs)
            return list(dict.fromkeys(chain(own, *above)))

        return inputs

    def made_of(self, rule, wildcards):
        """What a job reads: results of other jobs and, where it is made of data, files from outside."""
        sweep = self.sweep
        shard = sweep.results + "/{experiment}/{stage}/{point}/{block}.nc"
        if rule == "finetune":
            return sweep.upstream(shard.replace("{stage}", "pretrain"), rule)(wildcards)
        if rule == "measure":
            return [shard.format(**{**wildcards, "stage": "finetune"})]
        if rule == "collect":
            return sweep.shards(shard)(wildcards)
        if rule == "claims_table":
            return sweep.checked()
        if rule in MADE_OF_DATA:
            return sweep.data(rule)(wildcards)
        return [path for *_, path in sweep.jobs()] if rule in _EVERYTHING else []

    def _asked_for(self, path):
        """Digest over what is asked for of one result and of all that it is made of; a file from outside is itself."""
        if path not in self.jobs:
            return path
        rule, wildcards = self.jobs[path]
        above = sorted(self._asked(name) for name in self.made_of(rule, wildcards))
        return _digest([rule, self.sweep.code(rule)(wildcards), self.sweep.flags(rule)(wildcards), above])

    def _files_of(self, path):
        """The files from outside that the job of a result and all above it read."""
        rule, wildcards = self.jobs[path]
        made_of = self.made_of(rule, wildcards)
        above = (self._files(name) for name in made_of if name in self.jobs)
        own = (name for name in made_of if name not in self.jobs)
        return list(dict.fromkeys(chain(self.sweep.files(rule)(wildcards), own, *above)))

    @property
    def jobs(self):
        """{result: (rule, wildcards)}; of what has several formats, the first."""
        if not self._jobs:
            self._jobs = {path: (rule, wildcards) for rule, wildcards, path in self.sweep.jobs()}
        return self._jobs


def _digest(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
