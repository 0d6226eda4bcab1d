"""Files in the format of MNIST's, written here."""

import struct

import numpy as np


def packed(array):
    """An array of bytes in the IDX format."""
    head = bytes([0, 0, 8, array.ndim]) + b"".join(struct.pack(">I", size) for size in array.shape)
    return head + array.astype(np.uint8).tobytes()
