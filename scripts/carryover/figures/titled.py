"""The option that every figure has."""

from carryover.config.parameters import Model, parameter


class Titled(Model):
    title: str = parameter("", "what is seen; none if empty")
