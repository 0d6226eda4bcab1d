"""In the place of `conda`, for tests alone: the commands that Snakemake gives, by py-rattler's solver and installer.

STAND_IN_CHANNELS is the folder in which a channel is found by its name; `nodefaults` names no channel.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import rattler
import yaml
from rattler.exceptions import SolverError

HERE = Path(__file__).parent


async def create(file, prefix):
    """Solve an environment file and install the solution."""
    wanted = yaml.safe_load(Path(file).read_text())
    folder = Path(os.environ["STAND_IN_CHANNELS"])
    records = await rattler.solve(
        [rattler.Channel((folder / name).as_uri()) for name in wanted["channels"] if name != "nodefaults"],
        wanted["dependencies"],
        platforms=[str(rattler.Platform.current()), "noarch"],
        virtual_packages=rattler.VirtualPackage.detect(rattler.VirtualPackageOverrides.from_env()),
    )
    await rattler.install(records, prefix, show_progress=False)


def main(arguments):
    match arguments:
        case ["--version"]:
            print("conda 99.0.0")
        case ["info", *_]:
            print(json.dumps({"conda_prefix": str(HERE), "platform": str(rattler.Platform.current())}))
        case ["config", *_]:
            print(json.dumps({"get": {"channel_priority": "strict"}}))
        case ["env", "create", *options]:
            file, prefix = (options[options.index(option) + 1] for option in ("--file", "--prefix"))
            asyncio.run(create(file, prefix))
        case ["clean", *_]:
            pass
        case _:
            sys.exit(f"the stand-in for conda knows no command {' '.join(arguments)}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
        status = 0
    except SolverError as error:
        print(error, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    os._exit(status)  # threads of the solver may live on, and abort an interpreter that waits to end
