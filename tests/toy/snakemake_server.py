"""Run Snakemake once per line of standard input, each time in a fork of this process, which has imported it already.

A line is JSON, {"folder", "arguments", "output"}; standard output and error go to the file `output`. The answer has two
lines: the process, which leads a group of its own, and at the end its exit code. This saves two seconds per run.
"""

import gc
import json
import os
import sys
import traceback

import jsonschema  # noqa: F401  (by our Snakefile; the others by Snakemake, late)
import pandas  # noqa: F401
import smart_open  # noqa: F401
import snakemake.cli


def main():
    snakemake.cli.get_argument_parser()  # imports the plug-ins
    gc.freeze()  # else every child would copy what it shares with this process
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if not child:
            run(**order)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def run(folder, arguments, output):
    """Never returns: Snakemake exits, and this exits as Python would then, but at once."""
    os.setpgid(0, 0)
    target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(target, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    sys.argv = ["snakemake", *arguments]
    code = 1
    try:
        snakemake.cli.main()
    except SystemExit as ended:
        code = ended.code or 0
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
