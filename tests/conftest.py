"""Libraries compute in one thread, as the workflow's jobs do, unless a run of the tests asks for another number."""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
