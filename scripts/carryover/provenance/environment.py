"""The software and hardware that a process has loaded, its code's commit, and the resources that a job took."""

import os
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

_DISTRIBUTIONS = {"PIL": "pillow", "dateutil": "python-dateutil", "sklearn": "scikit-learn", "yaml": "pyyaml"}
"""Modules that are not called like the distribution they come from."""


def environment(device: Any, imported: Collection[str]) -> dict[str, Any]:
    """The software and hardware that the bits of a result may depend on: the section `environment` of a record.

    `device` is where the job computed, "auto" for CUDA if there is any, None for the processor. `imported` are names of
    modules from elsewhere that the code imports, of whose packages the versions are recorded.
    """
    from threadpoolctl import threadpool_info

    # Only where the job has loaded them: else they change no bits, and loading takes long.
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    has_cuda, device = bool(torch and torch.cuda.is_available()), str(device or "cpu")
    if device == "auto":
        device = "cuda" if has_cuda else "cpu"
    cpu, accelerator = {"machine": platform.machine()}, None
    if numpy:
        cpu["numpy"] = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if torch:
        cpu["torch"] = torch.backends.cpu.get_cpu_capability()
        if device.startswith("cuda") and has_cuda:
            accelerator = {"name": torch.cuda.get_device_name(device), "cuda": torch.version.cuda}
    threads = {one["internal_api"]: one["num_threads"] for one in threadpool_info()}
    names = sorted(_DISTRIBUTIONS.get(module, module).replace("_", "-").lower() for module in imported)
    return {
        "python": python(),
        "conda": os.path.isdir(os.path.join(sys.prefix, "conda-meta")),
        "versions": {name: version for name in names if (version := version_of(name))},
        "cpu": cpu,
        "device": device,
        "accelerator": accelerator,
        "threads": threads | ({"torch": torch.get_num_threads()} if torch else {}),
    }


def python() -> str:
    """Implementation and version of Python."""
    return f"{sys.implementation.name} {platform.python_version()}"


@cache
def version_of(distribution: str) -> str | None:
    """The version of an installed package; None where it is not installed."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(distribution)
    return None


def git_state(folder: Path) -> dict[str, Any]:
    """{commit, dirty} of the repository that tracks `folder`; dirty where a tracked file in it differs. Without one,
    both are None, and `reason` says why: a repository that only stands around it says nothing of its files."""
    # Hooks export which repository they belong to. Settings stay: among them are folders that a user calls safe.
    own = {name: value for name, value in os.environ.items() if not re.match("GIT_(?!CONFIG)", name)}
    # No optional locks: jobs that run side by side would stand in each other's way for the index.
    git = ["git", "--no-optional-locks", "-C", str(folder)]
    ask = partial(subprocess.run, env=own | {"LC_ALL": "C"}, capture_output=True, text=True, timeout=30, check=True)
    try:
        ask([*git, "ls-files", "--error-unmatch", "--", "."])
        text = ask([*git, "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", "."]).stdout
    except subprocess.CalledProcessError as error:
        return _no_commit(error.stderr.partition("\n")[0].removeprefix("fatal: ").removeprefix("error: "))
    except (OSError, subprocess.SubprocessError) as error:
        return _no_commit(str(error))
    if not (commit := re.search(r"^# branch\.oid ([0-9a-f]+)$", text, re.MULTILINE)):
        return _no_commit("nothing is committed")
    return {"commit": commit[1], "dirty": any(not line.startswith("#") for line in text.splitlines())}


def _no_commit(reason: str) -> dict[str, Any]:
    return {"commit": None, "dirty": None, "reason": reason}


def processor_time() -> float:
    """Seconds of the processor since this process began, with the programs that it ran."""
    usage = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in usage)


def resource_usage(start: datetime, starting: float) -> dict[str, Any]:
    """The resources of the process for a job that began at `start`, after `starting` seconds of the processor.

    Returns `start` and `duration` by the clock, processor seconds since the process began (`processor_time`) and those
    before the job (`starting`), and `peak_memory` of the process in bytes.
    """
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "host": platform.node(),
        "start": start.isoformat(timespec="seconds"),
        "duration": round((datetime.now(UTC) - start).total_seconds(), 3),
        "processor_time": round(processor_time(), 3),
        "starting": round(starting, 3),
        "peak_memory": peak if sys.platform == "darwin" else peak * 1024,  # bytes there, KiB elsewhere
    }
