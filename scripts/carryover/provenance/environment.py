"""The software and hardware that a process has loaded, and its code's commit, for the record beside its results."""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from carryover.provenance import import_check

# Modules that are not called like the distribution they come from.
_DISTRIBUTIONS = {"PIL": "pillow", "dateutil": "python-dateutil", "sklearn": "scikit-learn", "yaml": "pyyaml"}


def environment(device: Any = None) -> dict[str, Any]:
    """The software and hardware that the bits of a result may depend on, as far as this process has loaded it."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    device = str(device or "cpu")
    if device == "auto":
        device = "cuda" if torch and torch.cuda.is_available() else "cpu"
    cpu, accelerator = {"machine": platform.machine()}, None
    if numpy:
        cpu["numpy"] = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if torch:
        cpu["torch"] = torch.backends.cpu.get_cpu_capability()
        if device.startswith("cuda") and torch.cuda.is_available():  # whoever computes there says that it is not
            accelerator = {"name": torch.cuda.get_device_name(device), "cuda": torch.version.cuda}
    blas, threads = _blas()
    return {
        "python": f"{sys.implementation.name} {platform.python_version()}",
        "conda": os.path.isdir(os.path.join(sys.prefix, "conda-meta")),
        "versions": loaded_versions(),
        "blas": blas,
        "cpu": cpu,
        "libc": " ".join(platform.libc_ver()),
        "device": device,
        "accelerator": accelerator,
        "threads": threads | ({"torch": torch.get_num_threads()} if torch else {}),
    }


def numerical(device: Any = None) -> dict[str, Any]:
    """What of it the bits of a training depend on, wherever in its process it is asked for."""
    whole, installed = environment(device), installed_versions()
    versions = {name: installed[name] for name in ("numpy", "scipy", "torch") if name in installed}
    parts = ("python", "cpu", "device", "accelerator", "threads")
    return {"versions": versions, **{part: whole[part] for part in parts}}


def loaded_versions() -> dict[str, str]:
    """{distribution: version} of the installed packages that this process has loaded."""
    installed = installed_versions()
    # Of the library itself a record has every file, whether it is installed or not.
    modules = {module for module in list(sys.modules) if "." not in module} - sys.stdlib_module_names - {"carryover"}
    names = {_DISTRIBUTIONS.get(module, module).replace("_", "-").lower() for module in modules}
    return {name: installed[name] for name in sorted(names & installed.keys())}


def installed_versions() -> dict[str, str]:
    """{distribution: version} of every package on Python's path."""
    # Off the names of the .dist-info folders: importlib.metadata takes milliseconds for each package.
    entries = [name for folder in sys.path if os.path.isdir(folder) for name in os.listdir(folder)]
    parts = [name.removesuffix(".dist-info").rpartition("-") for name in entries if name.endswith(".dist-info")]
    return {name.replace("_", "-").lower(): version for name, _, version in reversed(parts)}


def _blas() -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The linear algebra and threading libraries that are loaded, without their paths; and their numbers of threads."""
    from threadpoolctl import threadpool_info

    loaded = threadpool_info()
    libraries = [{"library": i["internal_api"], "version": i["version"], "cpu": i.get("architecture")} for i in loaded]
    return sorted(libraries, key=json.dumps), {i["internal_api"]: i["num_threads"] for i in loaded}


def git_state(folder: Path) -> dict[str, Any] | None:
    """{commit, dirty} of the repository around `folder`; dirty where a tracked file differs. None without one.

    Nor is there one for an installed library: what is around the folder of packages is a repository of something else.
    """
    if not import_check.PACKAGES.isdisjoint(folder.parts):
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
