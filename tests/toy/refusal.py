"""How a test asks with which sentence something is refused."""

import pytest

from carryover.errors import UserError


def refused(function, *arguments, **options):
    """The sentence of the UserError that a function raises."""
    with pytest.raises(UserError) as caught:
        function(*arguments, **options)
    return str(caught.value)
