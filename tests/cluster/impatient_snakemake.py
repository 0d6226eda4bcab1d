"""Snakemake that asks after its jobs every two seconds: by itself it waits ten more each time that none has ended."""

import sys

import snakemake.cli
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

if __name__ == "__main__":
    RemoteExecutor.next_seconds_between_status_checks = property(lambda executor: 2, lambda executor, seconds: None)
    sys.exit(snakemake.cli.main())
