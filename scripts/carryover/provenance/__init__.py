"""The record of every result, from which reruns, audits, traces and crates follow.

- `job_record`: a job as a context manager, which writes its results and their record, or nothing.
- `store`: datasets as files, each written whole and with deterministic bytes.
- `code_digest`: a digest of a program and of all local modules that it imports.
- `environment`: software, hardware, commit and resources of a process.
- `records`: all records in a folder, and what a result was made of.
"""
