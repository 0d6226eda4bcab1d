"""What can be set of each table, and the data that it reads."""

from carryover.config.parameters import reading

BoundCorrelations = reading("bounds", "published")
