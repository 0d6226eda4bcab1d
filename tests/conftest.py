"""Libraries compute in one thread, as the workflow's jobs do, unless a run of the tests asks for another number.

Tests that run Snakemake, make conda environments or want a card are slow; other slow ones say so, module by module.
"""

import os

import pytest

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

_COLLECTED = pytest.StashKey[set]()
SLOW = ("slow", "workflow", "conda", "gpu")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if any(item.get_closest_marker(name) for name in SLOW):
            item.add_marker("slow")
    config.stash[_COLLECTED] = {(item.path, not item.get_closest_marker("slow")) for item in items}


@pytest.fixture(scope="session")
def collected(request):
    """{(file, whether it is fast)} of all tests, those that a mark leaves out as well."""
    return request.config.stash[_COLLECTED]
