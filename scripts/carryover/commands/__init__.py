"""The commands of `carryover`, one file each, found by its name in `carryover.__main__`; `archive` is a script alone.

- `audit`, `trace`: whether results are as recorded, and where a figure came from.
- `diagnose`, `rescale`: for a user's own networks.
- `check`: whether a configuration is allowed.
"""
