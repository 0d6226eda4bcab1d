"""As in the tests of plotting."""

from plotting.conftest import style as style
