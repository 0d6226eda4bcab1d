"""The tests that `make test-fast` runs look into every package of the library."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGES = {path.parent.name for path in (TESTS.parent / "scripts/carryover").glob("*/__init__.py")}


def test_every_package_has_fast_tests(collected):
    found = {(path.relative_to(TESTS).parts[0], fast) for path, fast in collected}
    if not {folder for folder, _ in found} >= PACKAGES:
        pytest.skip("the tests of some packages were not collected")
    assert {folder for folder, fast in found if fast} >= PACKAGES
