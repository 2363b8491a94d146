"""Arrays in files: npy and npz, raw bytes, and text, which NumPy parses."""

import contextlib
import os
import sys
import weakref
import zipfile
from collections.abc import Mapping

from weft import _core
from weft._core import asanyarray, asarray
from weft._core import dtype as _dtype
from weft._io import npy, text

_ZIP_PREFIXES = (b"PK\x03\x04", b"PK\x05\x06")  # the second one is of an archive without members


def _opened(file, mode):
    """A context with a stream: a path is opened and closed, a stream stays open."""
    if hasattr(file, "read" if "r" in mode else "write"):
        return contextlib.nullcontext(file)
    return open(os.fspath(file), mode)


def _with_suffix(file, suffix):
    if hasattr(file, "write"):
        return file
    file = os.fspath(file)
    return file if file.endswith(suffix) else file + suffix


# ---- npy ----


def save(file, arr, allow_pickle=True):
    """Writes an array to a file in the npy format, which NumPy reads too.

    file: a path, to which '.npy' is added where it is missing, or a stream that takes bytes.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, [1.0, 2.0])
    >>> _ = file.seek(0)
    >>> np.load(file)
    array([1., 2.])
    """
    with _opened(_with_suffix(file, ".npy"), "wb") as stream:
        npy.write_array(stream, asanyarray(arr))


def load(
    file,
    mmap_mode=None,
    allow_pickle=False,
    fix_imports=True,
    encoding="ASCII",
    *,
    max_header_size=npy.MAX_HEADER_SIZE,
):
    """The array of an npy file, or the archive of an npz file, whose arrays are read when they are asked for.

    file: a path, or a stream of bytes that can seek. mmap_mode: 'r' (read-only), 'r+' (written through) or 'c'
    (written to memory alone) maps the file instead of reading it; the array is over that memory
    (docs/guide/sharing.md).
    allow_pickle: whether files may be read that are neither, by Python's pickle, which runs what they say.

    Raises ValueError for what is no such file, is damaged, or has fewer bytes than its header says; EOFError for an
    empty file. Elements that weft has no dtype for are read by NumPy.
    """
    if encoding not in ("ASCII", "latin1", "bytes"):
        raise ValueError("encoding must be 'ASCII', 'latin1', or 'bytes'")
    with contextlib.ExitStack() as stack:
        own = not hasattr(file, "read")
        stream = stack.enter_context(open(os.fspath(file), "rb")) if own else file
        start = stream.read(len(npy.MAGIC))
        if not start:
            raise EOFError("No data left in file")
        stream.seek(-len(start), 1)
        if start[:4] in _ZIP_PREFIXES:
            options = {"fix_imports": fix_imports, "encoding": encoding}
            archive = NpzFile(stream, own, allow_pickle, options, max_header_size=max_header_size)
            stack.pop_all()
            return archive
        if start == npy.MAGIC:
            if mmap_mode:
                if not own:
                    raise ValueError(
                        "Filename must be a string or a path-like object.  Memmap cannot use existing file handles."
                    )
                try:
                    return _mapped(os.fspath(file), mmap_mode, allow_pickle, max_header_size)
                except TypeError as error:
                    options = {"mmap_mode": mmap_mode, "allow_pickle": allow_pickle}
                    return _loaded_by_numpy(os.fspath(file), error, options, max_header_size)
            before = stream.tell() if hasattr(stream, "tell") else None
            try:
                return npy.read_array(stream, allow_pickle, max_header_size)
            except TypeError as error:
                if before is None:
                    raise
                stream.seek(before)
                options = {"allow_pickle": allow_pickle, "fix_imports": fix_imports, "encoding": encoding}
                return _loaded_by_numpy(stream, error, options, max_header_size)
        if not allow_pickle:
            raise ValueError(
                "This file contains pickled (object) data. If you trust the file you can load it unsafely using the "
                "`allow_pickle=` keyword argument or `pickle.load()`."
            )
        import pickle

        try:
            return pickle.load(stream, fix_imports=fix_imports, encoding=encoding)
        except Exception as error:
            raise pickle.UnpicklingError(f"Failed to interpret file {file!r} as a pickle") from error


def _loaded_by_numpy(file, error, options, max_header_size):
    """An array of a dtype that weft leaves to NumPy."""
    import numpy

    from weft._protocols import host_arrays

    options["max_header_size"] = max_header_size
    return host_arrays.run("load", numpy.load, (file,), options, str(error))


def _read_by_numpy(stream, error, allow_pickle, pickle_options, max_header_size):
    """The same of a stream that cannot seek, as members of archives are."""
    from numpy.lib.format import read_array

    from weft._protocols import host_arrays

    options = {"allow_pickle": allow_pickle, "pickle_kwargs": pickle_options}
    options["max_header_size"] = max_header_size
    return host_arrays.run("load", read_array, (stream,), options, str(error))


def _mapped(path, mode, allow_pickle, max_header_size):
    """The array over a file's own pages."""
    from weft._io.memmap import memmap, mode_of

    mode = mode_of(mode)
    with open(path, "rb") as stream:
        shape, fortran, element = npy.read_header(stream, max_header_size, allow_pickle)
        start, left, count = stream.tell(), npy.bytes_left(stream), 1
        for extent in shape:
            count *= extent
        if left is None:
            raise ValueError(f"{path} is no regular file: it cannot be mapped, only read")
        if left < count * element.itemsize:
            raise ValueError("mmap length is greater than file size")
    return memmap(path, element, "r+" if mode == "w+" else mode, start, shape, "F" if fortran else "C")


# ---- npz ----


class _Attributes:
    """The arrays of an npz file as attributes: npz.f.x."""

    def __init__(self, archive):
        self.__dict__["_archive"] = weakref.ref(archive)

    def __getattr__(self, name):
        try:
            return self._archive()[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return list(self._archive())


class NpzFile(Mapping):
    """The arrays of an npz file by their names, read when they are asked for. A context manager, which closes it."""

    _SHOWN = 5

    zip = fid = None

    def __init__(
        self,
        fid,
        own_fid=False,
        allow_pickle=False,
        pickle_kwargs=None,
        *,
        max_header_size=npy.MAX_HEADER_SIZE,
    ):
        self.zip = zipfile.ZipFile(fid)
        self.fid = fid if own_fid else None
        self.allow_pickle, self.max_header_size = allow_pickle, max_header_size
        self.pickle_kwargs = pickle_kwargs
        members = self.zip.namelist()
        self.files = [name.removesuffix(".npy") for name in members]
        self._members = dict(zip(self.files, members)) | {name: name for name in members}
        self._name = getattr(fid, "name", "object") if own_fid else "object"
        self.f = _Attributes(self)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Closes the archive, and the file if load() opened it."""
        if self.zip is not None:
            self.zip.close()
            self.zip = None
        if self.fid is not None:
            self.fid.close()
            self.fid = None
        self.f = None  # it refers to this one

    def __del__(self):
        if hasattr(self, "fid"):
            self.close()

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __contains__(self, key):
        return key in self._members

    def __getitem__(self, key):
        try:
            member = self._members[key]
        except (KeyError, TypeError):
            raise KeyError(f"{key} is not a file in the archive") from None
        with self.zip.open(member) as stream:
            is_array = stream.read(len(npy.MAGIC)) == npy.MAGIC
        with self.zip.open(member) as stream:
            if not is_array:
                return stream.read()
            try:
                return npy.read_array(stream, self.allow_pickle, self.max_header_size)
            except TypeError as error:
                reason = error
        with self.zip.open(member) as stream:
            return _read_by_numpy(
                stream, reason, self.allow_pickle, self.pickle_kwargs or {}, self.max_header_size
            )

    def __repr__(self):
        shown = ", ".join(self.files[: self._SHOWN]) + ("..." if len(self.files) > self._SHOWN else "")
        return f"NpzFile {self._name!r} with keys: {shown}"


def _save_archive(file, arrays, compression):
    with zipfile.ZipFile(_with_suffix(file, ".npz"), "w", compression, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as stream:
                npy.write_array(stream, asanyarray(array))


def _named(args, kwds):
    arrays = dict(kwds)
    for number, array in enumerate(args):
        name = f"arr_{number}"
        if name in arrays:
            raise ValueError(f"Cannot use un-named variables and keyword {name}")
        arrays[name] = array
    return arrays


def savez(file, *args, allow_pickle=True, **kwds):
    """Writes several arrays to one npz file, by their keywords, or as arr_0, arr_1 and so on.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez(file, x=[1, 2], y=[3.5])
    >>> _ = file.seek(0)
    >>> np.load(file)['y']
    array([3.5])
    """
    _save_archive(file, _named(args, kwds), zipfile.ZIP_STORED)


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    """As savez, with members that are compressed."""
    _save_archive(file, _named(args, kwds), zipfile.ZIP_DEFLATED)


# ---- raw bytes ----


def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
    """A flat array of the elements of a file: raw bytes, or with `sep` numbers in a text, which NumPy parses.

    file: a path or an open file. count: how many, by default all there are; fewer where the file ends before.
    offset: bytes to pass over from where the file stands.
    """
    if sep:
        if offset:
            raise TypeError("'offset' argument only permitted for binary files")
        return asarray(_numpy("fromfile")(file, _numpy_dtype(dtype), count, sep))
    element = _dtype(dtype)
    if not isinstance(element, _dtype):
        return asarray(_numpy("fromfile")(file, element, count, sep, offset))
    with _opened(file, "rb") as stream:
        stream.fileno()
        stream.seek(offset, 1)
        count = count.__index__()
        left = npy.bytes_left(stream)
        if left is None:
            data = stream.read() if count < 0 else npy.read_at_most(stream, count * element.itemsize)
            whole = len(data) // element.itemsize
            return _core._from_bytes(bytes(data[: whole * element.itemsize]), element, (whole,))
        there = left // element.itemsize
        return npy.placed(npy.read_elements(stream, there if count < 0 else min(count, there), element))


def tofile(self, fid, sep="", format="%s"):
    """Writes the elements in C order to a file: raw bytes, or with `sep` as a text."""
    if sep:
        text = sep.join(format % item for item in self.ravel().tolist())
        with _opened(fid, "w") as stream:
            binary = "b" in getattr(stream, "mode", "")
            stream.write(text.encode("ascii") if binary else text)
        return
    host = self if self.device == "cpu" else self.to_device("cpu")
    with _opened(fid, "wb") as stream:
        stream.fileno()
        npy.write_elements(stream, host)


def dump(self, file):
    """Pickles the array into a file."""
    import pickle

    with _opened(file, "wb") as stream:
        pickle.dump(self, stream, protocol=4)


def dumps(self):
    """The pickled array as bytes."""
    import pickle

    return pickle.dumps(self, protocol=4)


# ---- text, which NumPy parses and prints ----


def _numpy(name):
    try:
        import numpy
    except ImportError as error:
        raise ImportError(
            f"weft.{name} of a text leaves the parsing to NumPy, which is not installed"
        ) from error
    return getattr(numpy, name)


def _numpy_dtype(dtype):
    """The dtype for NumPy's functions: fields and strings, too."""
    if dtype is None or isinstance(dtype, str):
        return dtype
    try:
        found = _core.dtype(dtype)
    except TypeError:  # a sequence of the columns' types
        from weft._protocols import host_arrays

        return host_arrays.Conversion().to_numpy(dtype)
    return found.str if isinstance(found, _dtype) else found


def fromstring(string, dtype=float, count=-1, *, sep, like=None):
    """A flat array of the numbers in a text, separated by `sep`. NumPy parses them.

    >>> np.fromstring('1, 2, 3', sep=',')
    array([1., 2., 3.])
    """
    if not sep:
        raise ValueError("The binary mode of fromstring is removed, use frombuffer instead")
    return asarray(_numpy("fromstring")(string, _numpy_dtype(dtype), count, sep=sep))


def loadtxt(
    fname,
    dtype=float,
    comments="#",
    delimiter=None,
    converters=None,
    skiprows=0,
    usecols=None,
    unpack=False,
    ndmin=0,
    encoding=None,
    max_rows=None,
    *,
    quotechar=None,
    like=None,
):
    """An array of the rows of a text file. NumPy parses it; the parameters are numpy.loadtxt's."""
    options = {"comments": comments, "delimiter": delimiter, "converters": converters, "skiprows": skiprows}
    options |= {"usecols": usecols, "unpack": unpack, "ndmin": ndmin, "encoding": encoding}
    result = _numpy("loadtxt")(
        fname, _numpy_dtype(dtype), max_rows=max_rows, quotechar=quotechar, **_for_numpy(options)
    )
    return type(result)(map(asarray, result)) if isinstance(result, (list, tuple)) else asarray(result)


def _for_numpy(options):
    """Arrays among the options, such as columns to use, as NumPy's."""
    return {
        key: value.tolist() if isinstance(value, _core.ndarray) else value for key, value in options.items()
    }


def genfromtxt(
    fname,
    dtype=float,
    comments="#",
    delimiter=None,
    skip_header=0,
    skip_footer=0,
    converters=None,
    missing_values=None,
    filling_values=None,
    usecols=None,
    names=None,
    excludelist=None,
    deletechars=" !#$%&'()*+,-./:;<=>?@[\\]^{|}~",
    replace_space="_",
    autostrip=False,
    case_sensitive=True,
    defaultfmt="f%i",
    unpack=None,
    usemask=False,
    loose=True,
    invalid_raise=True,
    max_rows=None,
    encoding=None,
    *,
    ndmin=0,
    like=None,
):
    """As loadtxt, with values for what is missing. NumPy parses it; the parameters are numpy.genfromtxt's."""
    options = {"comments": comments, "delimiter": delimiter, "skip_header": skip_header}
    options |= {"skip_footer": skip_footer, "converters": converters, "missing_values": missing_values}
    options |= {"filling_values": filling_values, "usecols": usecols, "names": names, "unpack": unpack}
    options |= {"excludelist": excludelist, "deletechars": deletechars, "replace_space": replace_space}
    options |= {"autostrip": autostrip, "case_sensitive": case_sensitive, "defaultfmt": defaultfmt}
    options |= {"usemask": usemask, "loose": loose, "invalid_raise": invalid_raise, "ndmin": ndmin}
    options |= {"max_rows": max_rows, "encoding": encoding}
    result = _numpy("genfromtxt")(fname, _numpy_dtype(dtype), **_for_numpy(options))
    if not usemask:
        return type(result)(map(asarray, result)) if isinstance(result, (list, tuple)) else asarray(result)
    from weft._protocols import host_arrays

    _ = sys.modules["weft"].ma  # loads it, which makes masked arrays of NumPy's weft's
    return host_arrays.Conversion().to_weft(result)


def savetxt(
    fname, X, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# ", encoding=None
):
    """Writes a text file with a line for each row. The parameters are numpy.savetxt's."""
    table = asarray(X).__array__()
    given = (fmt, delimiter, newline, header, footer, comments, encoding)
    if not text.write_table(fname, table, *given):
        _numpy("savetxt")(fname, table, *given)
