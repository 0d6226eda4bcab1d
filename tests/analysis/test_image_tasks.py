"""Runs of convolutional networks, apart by how many classes their tasks tell apart."""

import numpy as np
import xarray as xr

from carryover.analysis.image_tasks import by_classes


def runs(*classes):
    data = xr.Dataset({"risk_final": ("run", np.arange(len(classes)))})
    return data.assign_coords(target_classes=("run", list(classes)))


def test_each_number_of_classes_is_a_system_of_its_own():
    data = runs("5 6 7 8 9", "5 6", "7 9", "4 5 6")
    found = by_classes("vgg", data)
    assert list(found) == ["vgg_pairs", "vgg_3_classes", "vgg_5_classes"]
    assert [system["risk_final"].values.tolist() for system in found.values()] == [[1, 2], [3], [0]]
