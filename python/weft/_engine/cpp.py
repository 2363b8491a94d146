"""Where the package keeps what C++ programs are built with (docs/guide/cpp.md)."""

import pathlib

_PACKAGE = pathlib.Path(__file__).parents[1]


def _folder(name):
    path = _PACKAGE / name
    if not path.is_dir():
        raise FileNotFoundError(
            f"{path}: this weft runs from its build folder. `cmake --install` puts what C++ programs need somewhere."
        )
    return str(path)


def get_include():
    """The folder of weft's C++ headers, for -I: `#include <weft/weft.h>`.

    Raises FileNotFoundError where weft runs from its build folder, without having been installed.
    """
    return _folder("include")


def get_cmake_dir():
    """The folder of weft's CMake package, for CMAKE_PREFIX_PATH or weft_DIR: `find_package(weft)`.

    Raises FileNotFoundError where weft runs from its build folder, without having been installed.
    """
    return _folder("cmake")
