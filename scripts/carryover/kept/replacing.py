"""What packing anew may take the place of: what was packed of the same results before, and nothing else."""

import os
import shutil
from contextlib import contextmanager

from carryover.errors import UserError
from carryover.kept import reading
from carryover.kept.reading import RECORDS
from carryover.provenance import store, writing


def refuse_others(made):
    """Raise UserError where anything in the folder of what is kept is of another configuration: neither of the two
    could be unpacked from a folder that has both."""
    for experiment in reading.experiments(made):
        try:
            reading.records(made, experiment)
        except reading.OfAnother:
            raise
        except UserError:  # damaged: `refuse_loss` says so where that is in the way
            continue


def refuse_loss(made, experiment, datasets):
    """Raise UserError where something in the place of an experiment was not packed there, or would not be anew, since
    the configuration has no such measure any more."""
    place = reading.folder(made) / experiment
    files = _files(place)
    known = _packed(made, experiment, place)
    replaced = {place / RECORDS, *(reading.packed(made, experiment, path) for path in datasets)}
    for file in sorted(files):
        if file not in known or file.is_symlink() or not file.is_file():
            raise UserError(f"{file} was not packed there, as far as {RECORDS} says: move it away to pack")
        if file not in replaced:
            what = "is of a measure that the configuration does not have"
            raise UserError(f"{file} {what}, and stays: add the measure, or move the file away to pack")


def _packed(made, experiment, place):
    """The files that were packed in a place, as its records say; none without records."""
    records = place / RECORDS
    return {records, *reading.datasets(made, experiment, reading.records(made, experiment))} if records.exists() else {}


def _files(place):
    """What a folder has, if it is there; UserError where something else is, or a link, which may lead anywhere."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise UserError(f"{place} is no folder that `pack` has made: move it away to pack")
    try:
        return [place / name for name in os.listdir(place)] if place.exists() else []
    except OSError as error:
        raise store.unreadable(place, error) from None


@contextmanager
def in_place_of(place):
    """As `writing.new_folder`, also where one is there, which is gone only when the new one has taken its place."""
    old = place.with_name(f".{place.name}.old")
    try:
        with writing.new_folder(place) as fresh:
            yield fresh
            if place.exists():
                shutil.rmtree(old, ignore_errors=True)  # left by a process that was killed after this
                place.rename(old)
    finally:
        if old.exists() and not place.exists():
            old.rename(place)
        shutil.rmtree(old, ignore_errors=True)
