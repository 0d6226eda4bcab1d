"""Variables of the environment that must not reach into jobs, for what they change depends on who runs them.

Left alone: those of threads, which Snakemake sets; those that choose instructions of the processor, which records name;
HDF5's locking and plug-ins, caches, and folders of modules, which a machine may need; and those of CUDA's memory. Git's
are dealt with where git is asked (`provenance.environment`).
"""

import os

SETTLED = {
    "MPLBACKEND": "agg",  # a notebook exports its own
    "MATPLOTLIBRC": None,  # a style of the user
    "PYTHONSAFEPATH": None,  # scripts find the library in their own folder
    "PYTHONINSPECT": None,  # a job would wait at a prompt
    "PYTHONWARNINGS": None,  # `error` ends a job at any library's warning
    "PYTHONOPTIMIZE": None,  # other code
    "NPY_PROMOTION_STATE": None,  # the type of sums of different types
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": None,  # products of fewer digits
    "NVIDIA_TF32_OVERRIDE": None,
    "TORCH_LOGS": None,
    "SOURCE_DATE_EPOCH": None,  # a date in figures, which have none
    "PYTHONVERBOSE": None,  # thousands of lines in logs
    "PYTHONPROFILEIMPORTTIME": None,
}
"""{name: value, or None for what is cleared}."""


def settle() -> None:
    """Set and clear the variables of this process and of those that it starts."""
    for name, value in SETTLED.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
