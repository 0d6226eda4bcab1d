"""How much memory a job may take, and what becomes of memory that is freed."""

import ctypes
import platform
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from carryover.errors import UserError

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # in glibc's malloc.h
# What libraries say of an array that does not fit, or that no computer could hold.
_TOO_LARGE = re.compile(r"memory|Maximum allowed|too (big|large)|size calculation overflowed|negative dimensions")


@contextmanager
def within_memory() -> Iterator[None]:
    """Run a job with no more memory than is free, so that the system does not end it.

    On a machine with a GPU, whose driver reserves more addresses than there is memory, the system alone sets a limit.

    Raises
    ------
    UserError
        The memory is too small.
    """
    free = available()
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if free and not Path("/dev/nvidiactl").exists():
        most = _kilobytes("/proc/self/status", "VmData") * 1024 + free
        resource.setrlimit(resource.RLIMIT_DATA, (most if before[1] < 0 else min(most, before[1]), before[1]))
    try:
        yield
    except (MemoryError, OverflowError, RuntimeError, ValueError) as error:
        if isinstance(error, UserError) or not (isinstance(error, MemoryError) or _TOO_LARGE.search(str(error))):
            raise
        what = str(error).partition("\n")[0] or "an array did not fit"
        raise UserError(f"there is too little memory, {free / 2**30:.3g} GiB were free ({what})") from error
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def available() -> int:
    """Free bytes of memory of the machine and of the control group; 0 where neither is known."""
    free = sum(_kilobytes("/proc/meminfo", name) for name in ("MemAvailable", "SwapFree")) * 1024
    with suppress(OSError, ValueError):  # no number where there is no limit
        group = Path("/sys/fs/cgroup")
        used = int((group / "memory.current").read_text())
        free = min(free, max(0, int((group / "memory.max").read_text()) - used))
    return free


def _kilobytes(file: str, name: str) -> int:
    with suppress(OSError):
        if found := re.search(rf"^{name}:\s*(\d+) kB", Path(file).read_text(), re.MULTILINE):
            return int(found[1])
    return 0


def keep_freed() -> None:
    """Let glibc keep freed memory for the next of many equal steps.

    Otherwise it returns large arrays to the system at once, which must clear new pages for the next step.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_MAX, 0)
        library.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
