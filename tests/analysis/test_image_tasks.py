"""Runs of convolutional networks, apart by how many classes their tasks tell apart."""

import numpy as np
import xarray as xr

from carryover.analysis.image_tasks import IMAGES, by_classes, images_in_words, in_words
from carryover.tasks.idx_files import FASHION_MNIST, MNIST
from carryover.tasks.record_files import CIFAR100, STL10


def runs(*classes):
    data = xr.Dataset({"risk_final": ("run", np.arange(len(classes)))})
    return data.assign_coords(target_classes=("run", list(classes)))


def test_each_number_of_classes_is_a_system_of_its_own():
    data = runs("5 6 7 8 9", "5 6", "7 9", "4 5 6")
    found = by_classes("vgg", data)
    assert list(found) == ["vgg_pairs", "vgg_3_classes", "vgg_5_classes"]
    assert [system["risk_final"].values.tolist() for system in found.values()] == [[1, 2], [3], [0]]


def test_classes_that_were_named_and_not_drawn_are_told():
    def told(*sources):
        data = runs("5 6", "6 9").assign_coords({"network": ("run", ["vgg5"] * 2)}).assign_attrs(images="digits")
        return in_words(data.assign_coords(source_classes=("run", list(sources))) if sources else data)

    assert told("0 1", "0 1") == "vgg5 on 2 of the classes 5 6 9 of digits"
    assert told("0 1 5", "0 1 6") == told("", "") == told() == "vgg5 on 2 classes of digits"


def test_what_is_one_system_keeps_its_name():
    for data in (runs("5 6", "7 9"), runs("5 6").drop_vars("target_classes")):
        found = by_classes("vgg", data)
        assert list(found) == ["vgg"]
        assert found["vgg"].identical(data)


def test_sets_of_images_have_the_names_that_they_were_published_with():
    assert [*IMAGES.values()] == [published.title for published in (MNIST, FASHION_MNIST, CIFAR100, STL10)]
    assert [images_in_words(xr.Dataset(attrs={"images": name})) for name in ("fashion-mnist", "digits")] == [
        "Fashion-MNIST",
        "digits",
    ]
    assert images_in_words(xr.Dataset()) == "images"
