"""What can be set of each table, and the data that it reads."""

from pydantic import NonNegativeFloat

from carryover.config.parameters import parameter, reading


class BoundCorrelations(reading("bounds", "published")):
    constant: NonNegativeFloat = parameter(1.0, "c of eq 3; 0 for the limit of small ones")


BoundVariants = reading("published", "disjoint", "any")
