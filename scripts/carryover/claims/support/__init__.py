"""What the checks of claims have in common, and the tables that are made of them.

- `runs`: the runs that a check compares, by their coordinates and paired by seed; `transferability`: transferred
  networks compared with those from scratch.
- `checks`: what a check returns, the claim that it belongs to, and the dataset of a group of them.
- `table`: all groups in one table, with the verdicts of claims.
"""
