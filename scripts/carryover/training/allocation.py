"""How much memory a job may take, and what becomes of memory that is freed."""

import ctypes
import platform
import re
import resource
from contextlib import contextmanager, suppress
from pathlib import Path

from carryover.config.parameters import about, applies
from carryover.errors import UserError

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # in glibc's malloc.h


# Parameters whose number is that of rows of an array with `dimension` columns.
_ROWS = ("samples", "auxiliary_samples", "width", "teacher_units")
# What libraries say of an array that does not fit, or that no computer could hold.
_TOO_LARGE = re.compile(r"memory|Maximum allowed|too (big|large)|size calculation overflowed|negative dimensions")


@contextmanager
def within_memory(p):
    """Run a job of parameters `p` with no more memory than is free, so that it is not the system that ends it.

    Raises UserError, naming the sizes that were asked for and what they take beside what is free, where its arrays
    cannot fit, and where the memory is used up later. On a machine with a GPU, whose driver reserves more addresses
    than there is memory, the system alone sets a limit.
    """
    free = available()
    _refuse_too_large(p, free)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if free and not Path("/dev/nvidiactl").exists():
        most = _kilobytes("/proc/self/status", "VmData") * 1024 + free
        resource.setrlimit(resource.RLIMIT_DATA, (most if before[1] < 0 else min(most, before[1]), before[1]))
    try:
        yield
    except (MemoryError, OverflowError, RuntimeError, ValueError) as error:
        if isinstance(error, UserError) or not (isinstance(error, MemoryError) or _TOO_LARGE.search(str(error))):
            raise
        told = str(error).partition("\n")[0] or "an array did not fit"
        raise UserError(f"{_largest(p)}: there is too little memory, {_in_words(free)} were free ({told})") from error
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def available():
    """Bytes of memory that can be had, of the machine and of the group of processes; 0 where nothing tells."""
    free = sum(_kilobytes("/proc/meminfo", name) for name in ("MemAvailable", "SwapFree")) * 1024
    with suppress(OSError, ValueError):  # no number where there is no limit
        group = Path("/sys/fs/cgroup")
        used = int((group / "memory.current").read_text())
        free = min(free, max(0, int((group / "memory.max").read_text()) - used))
    return free


def _kilobytes(file, name):
    with suppress(OSError):
        if found := re.search(rf"^{name}:\s*(\d+) kB", Path(file).read_text(), re.MULTILINE):
            return int(found[1])
    return 0


def _sizes(p):
    """{parameter: the largest of its values} of whole numbers that this job reads and that are no mere limits."""
    values = {name: value for name, value in p
              if applies(about(type(p), name, "when"), vars(p)) and not name.startswith("max_")}  # fmt: skip
    largest = {name: max(v) if isinstance(v, tuple) and v else v for name, v in values.items()}
    return {name: value for name, value in largest.items() if type(value) is int}


def _refuse_too_large(p, free):
    """UserError where one array alone, in single precision, is larger than the memory."""
    sizes = _sizes(p)
    rows = max((name for name in _ROWS if name in sizes), key=sizes.get, default=None)
    if rows and free and (bytes_ := 4 * sizes[rows] * sizes.get("dimension", 1)) > free:
        asked = " and ".join(f"{name} {sizes[name]}" for name in (rows, "dimension") if name in sizes)
        raise UserError(f"{asked} take {_in_words(bytes_)} of memory at least, and {_in_words(free)} are free")


def _largest(p):
    sizes = sorted(_sizes(p).items(), key=lambda one: -one[1])
    return ", ".join(f"{name} {value}" for name, value in sizes[:3]) or "this job"


def _in_words(size):
    return f"{size / 2**30:.3g} GiB"


def keep_freed() -> None:
    """Let the C library keep memory that is freed, for the next of many equal steps, where it is glibc.

    It would give large arrays back to the system at once, which then has to clear new pages for the next step.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_MAX, 0)
        library.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
