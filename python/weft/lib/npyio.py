"""numpy.lib.npyio: what files of arrays are read by."""

from importlib import import_module as _import_module

from weft._io.files import NpzFile

DataSource = _import_module("weft.lib._datasource").DataSource

__all__ = ["DataSource", "NpzFile"]
