"""The jobs of a configuration, as Snakemake plans them and as the scripts of its rules do them.

- Planning: `sweep` (all jobs, and functions of wildcards for the rules), of `points` (combinations of parameters) and
  `requests` (what a job asks, and its key); `startup` reads and checks a configuration, `causes` compares records.
- Doing: `command_line` (flags that every job has), `training_job`, `plugin_job` (measures, curves, claims, figures) and
  `collecting`.
- `fork_server` and its client `fork_client`: local jobs begin in a process that has loaded what they import.
"""
