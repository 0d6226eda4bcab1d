"""What becomes of memory that is freed."""

import ctypes
import platform

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # in glibc's malloc.h


def keep_freed() -> None:
    """Let the C library keep memory that is freed, for the next of many equal steps, where it is glibc.

    It would give large arrays back to the system at once, which then has to clear new pages for the next step.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_MAX, 0)
        library.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
