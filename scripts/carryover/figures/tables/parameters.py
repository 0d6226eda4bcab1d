"""What can be set of each table, and the data that it reads."""

from typing import ClassVar

from carryover.config.parameters import Model


class BoundCorrelations(Model):
    ROLES: ClassVar = ("bounds", "published")
