"""The commands of `carryover`, one file each, found by its name in `carryover.__main__`; `archive` is a script alone.

- `audit`, `trace`: whether results are as recorded, and where a figure came from.
- `replay`: a published run, from its seed.
- `diagnose`, `forecast`, `rescale`: for a user's own networks.
- `check`: whether a configuration is allowed.
"""
