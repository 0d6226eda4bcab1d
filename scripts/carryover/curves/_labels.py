"""Attributes of the curves' variables and coordinates."""


def named(long_name: str, units: str = "1") -> dict[str, str]:
    return {"long_name": long_name, "units": units}
