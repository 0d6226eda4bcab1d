"""Common parts of the scripts' command lines."""

import argparse
import errno
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

from carryover.config import parameters, plugins
from carryover.config.artifacts import FORMATS
from carryover.errors import UserError, sentence
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.workflow import variables

variables.settle()  # before anything imports Matplotlib or PyTorch
_OF_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO)
_ENDING = 1.5
"""Seconds after a signal within which a process removes its temporary files."""
ALSO = "--also"
"""On the command line of a training job: the parameters of a further point of its batch follow."""


def run(main):
    """Run a script's function `main(argv)`, argv the words of the command line after the script's name.

    A user's mistake ends it with one sentence and exit code 1, an error of the code with the same exit code and with
    its trace below a sentence that names job and place. Ctrl-C and SIGTERM end it with exit codes 130 and 143 and no
    trace, after temporary files are removed. A reader that has seen enough, such as `head`, ends it with exit code 1.
    """
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115  # `>&-`
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # names of files may be no UTF-8
    _end_by_signals()
    try:
        try:
            main(sys.argv[1:])
        finally:
            sys.stdout.flush()
    except UserError as error:
        sys.exit(f"{Path(sys.argv[0]).stem}: {sentence(error)}")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        sys.exit(1)
    except MemoryError as error:
        sys.exit(f"{_job()}: there is not enough memory: {' '.join(str(error).split()) or 'none is left'}")
    except OSError as error:
        if error.errno not in _OF_DISK:
            _tell_of_code(error)
        sys.exit(f"{_job()}: {error.filename or 'a file'} cannot be written: {error.strerror}")
    except Exception as error:
        _tell_of_code(error)


def _job():
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])


def _tell_of_code(error):
    """Print the trace of an error of the code below a sentence on it, and end with exit code 1."""
    calls = traceback.extract_tb(error.__traceback__)
    place = ([call for call in calls if "/carryover/" in call.filename] or calls)[-1]
    what = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"{_job()}: {what}, in {place.filename}, line {place.lineno}; an error of the code, not of the data:",
          file=sys.stderr)  # fmt: skip
    traceback.print_exception(error)
    sys.exit(1)


def _end_by_signals():
    """Let Ctrl-C and SIGTERM end this process by SystemExit, or by force if it still runs `_ENDING` seconds later."""
    # Python runs signal handlers only between bytecodes of the main thread, which a long library call delays. But it
    # writes the signal's number to this pipe at once, which wakes the watching thread.
    noticed, notice = os.pipe()
    os.set_blocking(notice, False)
    signal.set_wakeup_fd(notice)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))

    def watch():
        """Wait for a signal, then for `_ENDING` seconds; if the process still runs, remove its files and end it."""
        number = os.read(noticed, 1)[0]
        time.sleep(_ENDING)
        for file in list(store.UNFINISHED):
            file.unlink(missing_ok=True)
        os._exit(128 + number)

    threading.Thread(target=watch, daemon=True).start()


def read_plugin(argv, kind, rule, description):
    """The name of the plug-in that the first word of the command line is; help and errors where it names none.

    `kind` is what `plugins.names` lists, `rule` the name of the script, and `description` the text of its help.
    """
    helps = not argv or argv[0].startswith("-")  # help after the plug-in's name is the plug-in's
    parser = argparse.ArgumentParser(prog=f"{rule}.py", description=description, add_help=helps)
    parser.add_argument("plugin", choices=plugins.names(kind), help="then its own flags: --help after it lists them")
    return parser.parse_known_args(argv[:1])[0].plugin


def parser(prog, description, **options):
    """A parser with the flags that every job has; `options` are others of `argparse.ArgumentParser`."""
    made = argparse.ArgumentParser(prog=prog, description=description, allow_abbrev=False, **options)
    made.add_argument("--output", required=True, nargs="+", type=Path, metavar="FILE", help="where the result goes")
    made.add_argument("--wildcards", nargs="*", type=pair, default=[], metavar="KEY=VALUE", help="for the record")
    made.add_argument("--key", metavar="DIGEST", help="of the workflow's request; stored in the record")
    return made


def job(rule, arguments, inputs, modules=(), **facts):
    """The `Job` of a rule, whose script has the name of the rule; UserError for an output of another format.

    `arguments` are parsed by `parser`. `modules` are those besides the script, and `facts` other fields of `Job`.
    """
    formats = FORMATS.get(rule, (".nc",))
    for output in arguments.output:
        if output.suffix not in formats:
            raise UserError(f"--output {output}: its suffix must be one of {', '.join(formats)}.")
    wildcards, modules = dict(arguments.wildcards), [rule, *modules]
    return Job(rule=rule, wildcards=wildcards, inputs=inputs, outputs=arguments.output, modules=modules, **facts)


def pair(word):
    """('a', 'b') from 'a=b'; ValueError for another word."""
    name, value = word.split("=", 1)
    return name, value


def options(model, words, prog):
    """The parameters of a model, an instance of it, from the words of a command line."""
    own = argparse.ArgumentParser(prog=prog, allow_abbrev=False, add_help=False)
    parameters.add_arguments(own, model)
    return parameters.from_arguments(model, own.parse_args(words))
