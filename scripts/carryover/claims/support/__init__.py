"""What the checks of claims have in common, and the tables that are made of them.

- `checks`: what a check returns, the claim that it belongs to, and the dataset of a group of them.
- `table`: all groups in one table, with the verdicts of claims.
"""
