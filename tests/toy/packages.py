"""Packages that tests of other people's networks need, where they are installed."""

import pytest
import torch

LIBRARY = torch.library.Library("torchvision", "FRAGMENT")


def package(name):
    """An optional package, or the test is skipped.

    Built for another torch, torchvision, which others import, lacks two operators that no network needs.
    """
    if not hasattr(torch.ops.torchvision, "nms"):
        for operator in ("nms", "qnms"):
            LIBRARY.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return pytest.importorskip(name, reason=f"{name} is not installed")
