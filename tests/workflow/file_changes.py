"""What can happen to one file of a project: each is a function of its path."""

import os

import netCDF4
import numpy as np
import xarray as xr


def kept_time(change):
    """The same change of a file, of which its size and times tell nothing."""

    def mutation(path):
        stat = os.stat(path)
        change(path)
        assert path.stat().st_size == stat.st_size
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    return mutation


@kept_time
def one_bit(path):
    data = bytearray(path.read_bytes())
    compressed = data.find(b"x^")  # elsewhere, HDF5 has gaps that hold nothing
    data[compressed + 10 if path.suffix == ".nc" else len(data) // 2] ^= 1
    path.write_bytes(data)


@kept_time
def one_value(path):
    """The next number in the place of one, such that the compressed file is no longer."""
    content, place = path.read_bytes(), 0
    while path.read_bytes() == content or path.stat().st_size != len(content):
        path.write_bytes(content)
        with netCDF4.Dataset(path, "r+") as opened:
            variable = next(v for v in opened.variables.values() if v.dtype.kind == "f" and v.ndim and v.size > place)
            values = variable[:]
            values.flat[place] = np.nextafter(values.flat[place], np.inf)
            variable[:] = values
        place += 1


def scaled(factor):
    """All floating-point numbers of a file times a factor."""

    def change(path):
        with netCDF4.Dataset(path, "r+") as opened:
            for variable in opened.variables.values():
                if variable.dtype.kind == "f":
                    variable[:] = variable[:] * factor

    return change


def recode(path):
    with xr.open_dataset(path, decode_times=False, mask_and_scale=False) as opened:
        dataset = opened.load().drop_encoding()
    dataset.to_netcdf(path, encoding={name: {"zlib": False} for name, v in dataset.variables.items() if v.ndim})


def older(path):
    path.write_text(path.read_text().replace("font.size: 9", "font.size: 10"))
    os.utime(path, (1e9, 1e9))
