"""What the sweep hands out: the jobs of a stage, and values of wildcards (standard library only)."""

from dataclasses import dataclass, field


def recorded(files):
    """Results, each with its record."""
    return [path for file in files for path in (file, f"{file}.json")]


class Wildcards(dict):
    """Values by name, as attributes too: what Snakemake hands to functions of wildcards."""

    __getattr__ = dict.__getitem__


@dataclass(frozen=True)
class Point:
    """One job of a stage, but for its seeds: what its path spells, its parameters as they are configured, and those in
    canonical form."""

    axes: dict
    values: dict
    asked: dict
    upstream: str | None = None
    modules: tuple = field(default=())

    @property
    def name(self):
        return "_".join(f"{k}~{v}" for k, v in sorted(self.axes.items())) or "all"
