"""What a configuration makes of the results that are kept with the project, without training anything (standard library
only: the Snakefile imports it)."""

from pathlib import Path

from carryover.config.artifacts import MADE_OF_DATA
from carryover.workflow.points import Wildcards, recorded


def made_of_kept(sweep):
    """Every comparison, group of claims, figure and table of a `Sweep` that is made of nothing but kept results, which
    were unpacked, of theory curves and of files; and the table of claims where that has all of its groups."""
    packed = Path(sweep.config["kept"]).glob("*/*.nc.xz") if "kept" in sweep.config else []
    unpacked = (f"{sweep.results}/{file.parent.name}/{file.stem}" for file in packed)
    known = {path for path in unpacked if Path(path).is_file()}
    known |= {f"{sweep.results}/theory/{curve}.nc" for curve in sweep.config.get("curves", {})}
    found = []
    for rule, kind in MADE_OF_DATA.items():
        for name in kind.names(sweep.config):
            files = kind.files(sweep.config, sweep.results, Wildcards({kind.one: name})).values()
            if all(file in known or Path(file).is_file() for file in files):
                found += kind.outputs(sweep.results, name)
        known |= set(found)
        if rule == "check_claims" and sweep.checked() and known.issuperset(sweep.checked()):
            known |= set(sweep.claims_table())
            found += [path for path in sweep.claims_table() if not path.endswith(".json")]
    return recorded(found)
