"""How much memory a job may take, and what becomes of memory that is freed."""

import ctypes
import platform
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carryover.errors import UserError

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # in glibc's malloc.h


@contextmanager
def within_memory() -> Iterator[None]:
    """Run a job with no more memory than is free, so that the system does not end it.

    Linux alone says how much that is. On a machine with a GPU, whose driver reserves more addresses than there is
    memory, the system alone sets a limit.

    Raises
    ------
    UserError
        The memory is too small.
    """
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if Path("/proc/meminfo").exists() and not Path("/dev/nvidiactl").exists():
        most = _bytes("/proc/self/status", "VmData") + available()
        resource.setrlimit(resource.RLIMIT_DATA, (most if before[1] < 0 else min(most, before[1]), before[1]))
    try:
        yield
    except (MemoryError, RuntimeError) as error:  # of NumPy, and of PyTorch
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        raise UserError(f"there is too little memory ({str(error).partition(chr(10))[0]})") from error
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def available() -> int:
    """Free bytes of memory of the machine."""
    return sum(_bytes("/proc/meminfo", name) for name in ("MemAvailable", "SwapFree"))


def _bytes(file: str, name: str) -> int:
    found = re.search(rf"^{name}:\s*(\d+) kB", Path(file).read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def keep_freed() -> None:
    """Let glibc keep freed memory for the next of many equal steps.

    Otherwise it returns large arrays to the system at once, which must clear new pages for the next step.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_MAX, 0)
        library.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
