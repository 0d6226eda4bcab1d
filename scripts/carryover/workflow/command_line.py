"""What the scripts' command lines have in common."""

import argparse
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

from carryover.config import parameters, plugins
from carryover.errors import UserError, sentence
from carryover.provenance.writing import FULL

ALSO = "--also"
"""On the command line of a training job: what follows is asked of a further point of its batch."""


def _without_trace(kind, error, trace, shown=sys.excepthook):
    if not issubclass(kind, KeyboardInterrupt):
        shown(kind, error, trace)


sys.excepthook = _without_trace  # while a script loads what it needs


def run(main):
    """Run a script's `main(argv)`; a user's mistake ends it with one sentence and exit code 1.

    So does, without one, a reader who has seen enough of what it prints, such as `head`, and with one a full disk that
    this goes to. Ctrl-C and SIGTERM end it without a word, by 130 and 143, and nothing half-written is left. Names of
    files that are no UTF-8 are printed with escapes.
    """
    sys.stdout.reconfigure(errors="backslashreplace")
    name = Path(sys.argv[0]).stem
    try:
        with _interruptible():
            try:
                main(sys.argv[1:])
            except UserError as error:
                sys.exit(f"{name}: {sentence(error)}")
            finally:
                sys.stdout.flush()
    except MemoryError as error:
        sys.exit(f"{name}: there is too little memory: {error or 'an array does not fit'}.")
    except BrokenPipeError:
        _say_no_more()
        sys.exit(1)
    except OSError as error:
        if error.errno not in FULL:
            raise
        _say_no_more()
        sys.exit(f"{name}: cannot write {error.filename or 'what it prints'}: {error.strerror}.")


@contextmanager
def _interruptible():
    """SIGINT and SIGTERM unwind what is being done, so that it takes its temporary files away, and end the program."""

    def end(number, _frame):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # who ends a job may send both
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # who is tired of waiting
        sys.exit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say_no_more():
    """Python flushes once more at its end, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def chosen(argv, kind, rule, description):
    """The plug-in that the first word of the command line names; help and errors where it names none."""
    helps = not argv or argv[0].startswith("-")  # help after the plug-in's name is the plug-in's
    parser = argparse.ArgumentParser(prog=f"{rule}.py", description=description, add_help=helps)
    parser.add_argument("plugin", choices=plugins.names(kind), help="then its own flags: --help after it lists them")
    return parser.parse_known_args(argv[:1])[0].plugin


def parser(rule, description, **options):
    """A parser with the flags that every job has."""
    made = argparse.ArgumentParser(prog=rule, description=description, allow_abbrev=False, **options)
    made.add_argument("--output", required=True, nargs="+", metavar="FILE", help="where the result goes")
    made.add_argument("--wildcards", nargs="*", default=[], metavar="KEY=VALUE", help="kept in the record")
    made.add_argument("--key", metavar="DIGEST", help="of all that the workflow asks of the job; kept in the record")
    return made


def plugin(argv, kind, rule, description, *additions):
    """The plug-in that a command line names and what it is told: (module, its parameters, all arguments).

    `additions` are functions that add a rule's own flags to the parser.
    """
    name = chosen(argv, kind, rule, description)
    module = plugins.load(f"carryover.{kind}.{name}")
    made = parser(f"{rule}.py {name}", description)
    for add in additions:
        add(made)
    model = parameters.model_of(kind, name)
    parameters.add_arguments(made, model)
    arguments = made.parse_args(argv[1:])
    if "roles" in arguments and len(arguments.roles) != len(arguments.data):
        counts = f"{len(arguments.roles)} and {len(arguments.data)}"
        raise UserError(f"--roles and --data must name as many things each: they name {counts}.")
    return module, parameters.from_arguments(model, arguments), arguments


def add_data(made):
    """The flags of what is made of collected datasets."""
    made.add_argument("--roles", required=True, nargs="+", help="what each data file is for")
    made.add_argument("--data", required=True, nargs="+", type=Path, metavar="FILE", help="in the order of --roles")


@contextmanager
def naming_what_is_missing(make, files):
    """UserError, naming the plug-in and the files, where a function looks for a name that its data do not have."""
    try:
        yield
    except KeyError as error:
        plugin = make.__module__.rpartition(".")[2]
        wanted = str(error.args[0]).partition("\n")[0]
        raise UserError(f"{plugin}: {wanted}; the data are of: {', '.join(map(str, files))}.") from error


class Roles(dict):
    """Data by role; a role that was not given is a user's mistake."""

    def __missing__(self, role):
        raise UserError(f"data of the role {role} are needed; given were: {', '.join(self)}.")


def by_role(arguments, read):
    """The data files, read by `read`, by their roles."""
    return Roles(zip(arguments.roles, map(read, arguments.data), strict=True))


def wildcards(arguments):
    """{'point': 'all'} from --wildcards point=all; UserError for a word without an equals sign."""
    pairs = [word.partition("=") for word in arguments.wildcards]
    if unpaired := [key for key, equals, _ in pairs if not equals]:
        raise UserError(f"--wildcards {unpaired[0]}: it must be KEY=VALUE.")
    return {key: value for key, _, value in pairs}
