"""The profile for Slurm differs from the default one only where a cluster differs from one machine."""

import yaml

from carryover.workflow.sweep import Sweep
from toy.small_project import ROOT, TINY


def profile(name):
    return yaml.safe_load((ROOT / f"profiles/{name}/profile.yaml").read_text())


def test_what_decides_over_reruns_is_the_same_with_and_without_slurm():
    default, slurm = profile("default"), profile("slurm")
    own = default.keys() - {"cores", "resources", "max-jobs-per-timespan"}
    assert {key: slurm.get(key) for key in own} == {key: default[key] for key in own}


def test_memory_and_time_double_with_every_attempt_and_gpus_do_not():
    config = {"experiments": {"tiny": TINY["experiments"]["tiny"] | {"resources": {"gpu": 1, "mem_mb": 3000}}}}
    sweep = Sweep(config, ROOT)
    wildcards = {"experiment": "tiny"}
    asked = {name: [sweep.resource(name)(wildcards, n) for n in (1, 2, 3)] for name in ("gpu", "mem_mb", "runtime")}
    assert asked == {"gpu": [1, 1, 1], "mem_mb": [3000, 6000, 12000], "runtime": [120, 240, 480]}
