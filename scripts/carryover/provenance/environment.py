"""The software and hardware that a process has loaded, its code's commit, and what a job took."""

import json
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_DISTRIBUTIONS = {"PIL": "pillow", "dateutil": "python-dateutil", "sklearn": "scikit-learn", "yaml": "pyyaml"}
"""Modules that are not called like the distribution they come from."""


def environment(device: Any = None, imported: Collection[str] = ("numpy", "scipy", "torch")) -> dict[str, Any]:
    """The software and hardware that the bits of a result may depend on, with the versions of packages `imported`."""
    from threadpoolctl import threadpool_info

    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    device = str(device or "cpu")
    if device == "auto":
        device = "cuda" if torch and torch.cuda.is_available() else "cpu"
    cpu, accelerator = {"machine": platform.machine()}, None
    if numpy:
        cpu["numpy"] = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if torch:
        cpu["torch"] = torch.backends.cpu.get_cpu_capability()
        if device.startswith("cuda") and torch.cuda.is_available():
            accelerator = {"name": torch.cuda.get_device_name(device), "cuda": torch.version.cuda}
    loaded, installed = threadpool_info(), installed_versions()
    names = {_DISTRIBUTIONS.get(module, module).replace("_", "-").lower() for module in imported}
    blas = [{"library": i["internal_api"], "version": i["version"], "cpu": i.get("architecture")} for i in loaded]
    threads = {i["internal_api"]: i["num_threads"] for i in loaded}
    return {
        "python": python(),
        "conda": os.path.isdir(os.path.join(sys.prefix, "conda-meta")),
        "versions": {name: installed[name] for name in sorted(names & installed.keys())},
        "blas": sorted(blas, key=json.dumps),
        "cpu": cpu,
        "libc": " ".join(platform.libc_ver()),
        "device": device,
        "accelerator": accelerator,
        "threads": threads | ({"torch": torch.get_num_threads()} if torch else {}),
    }


def numerical(device: Any = None) -> dict[str, Any]:
    """The part of it that the bits of a training depend on."""
    whole = environment(device)
    return {part: whole[part] for part in ("versions", "python", "cpu", "device", "accelerator", "threads")}


def python() -> str:
    """Implementation and version of Python."""
    return f"{sys.implementation.name} {platform.python_version()}"


def installed_versions() -> dict[str, str]:
    """{distribution: version} of every package on Python's path."""
    # Off the names of the .dist-info folders: importlib.metadata takes milliseconds for each package.
    entries = [name for folder in sys.path if os.path.isdir(folder) for name in os.listdir(folder)]
    parts = [name.removesuffix(".dist-info").rpartition("-") for name in entries if name.endswith(".dist-info")]
    return {name.replace("_", "-").lower(): version for name, _, version in reversed(parts)}


def git_state(folder: Path) -> dict[str, Any] | None:
    """{commit, dirty} of the repository around `folder`; dirty where a tracked file differs. None without one.

    An installed library has none: around a folder of packages stands a repository of something else.
    """
    if {"site-packages", "dist-packages"} & set(folder.parts):
        return None
    # No optional locks: jobs that run side by side would stand in each other's way for the index.
    status = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    command = ["git", "--no-optional-locks", "-C", str(folder), *status]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    commit = re.search(r"^# branch\.oid ([0-9a-f]+)$", done.stdout, re.MULTILINE)
    if done.returncode or not commit:
        return None
    return {"commit": commit[1], "dirty": any(not line.startswith("#") for line in done.stdout.splitlines())}


class ResourceUsage:
    """What the process takes for one job, from the making of this object on."""

    def __init__(self) -> None:
        self._start, self._clock, self._before = datetime.now(UTC), time.perf_counter(), _processor_time()

    def by_now(self) -> dict[str, Any]:
        """Host and process; `start` and `duration` by the clock; seconds of the processor since the process began, with
        the programs that it ran, and those `starting` before the job; `peak_memory` of the process in bytes."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "host": platform.node(),
            "platform": platform.platform(),
            "pid": os.getpid(),
            "start": self._start.isoformat(timespec="seconds"),
            "duration": round(time.perf_counter() - self._clock, 3),
            "processor_time": round(_processor_time(), 3),
            "starting": round(self._before, 3),
            "peak_memory": peak if sys.platform == "darwin" else peak * 1024,  # bytes there, KiB elsewhere
        }


def _processor_time() -> float:
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
