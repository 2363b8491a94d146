"""Tables as text, many rows at a time: the bytes of numpy.savetxt."""

import gzip
import io

import numpy
import pytest
import weft as np

CALLS = [
    {},
    {"fmt": "%.6f", "delimiter": ","},
    {"fmt": "%d", "header": "a\nb", "footer": "end", "comments": "% "},
    {"fmt": "%8.3e|%+g|%-10.2f"},
    {"fmt": ["%d", "%.1f", "%G"], "delimiter": "; ", "newline": "\r\n"},
    {"fmt": "%s"},
    {"fmt": "%5.1f%%", "delimiter": ","},
    {"fmt": "%r %a %s"},
    {"fmt": "%.3f", "newline": "%\n"},
    {"fmt": "%x"},
    {"fmt": "no format"},
    {"fmt": ["%d"]},
    {"fmt": 5},
    {"unknown": 1},
    {"delimiter": b","},
]


def written(module, stream, given, options):
    try:
        module.savetxt(stream, given, **options)
    except Exception as error:
        return type(error), str(error)
    return stream.getvalue()


@pytest.mark.parametrize("options", CALLS, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "u8", "?", "c16"])
@pytest.mark.parametrize("shape", [(600, 3), (3, 3), (600,), (0, 3), (2, 2, 3), ()], ids=str)
def test_as_numpy_writes(options, dtype, shape):
    given = (1000 * numpy.random.default_rng(1).random(shape)).astype(dtype)
    if given.size > 5 and dtype in ("f8", "f4"):
        given.ravel()[:3] = numpy.nan, -numpy.inf, -0.0
    for stream in (io.StringIO, io.BytesIO):
        found = written(np, stream(), np.asarray(given), options)
        expected = written(numpy, stream(), given, options)
        if isinstance(expected, tuple):
            assert found[0] is expected[0]
            if expected[0] is not TypeError or "savetxt" not in expected[1]:
                assert found[1] == expected[1]
        else:
            assert found == expected


def test_files(tmp_path):
    given = numpy.random.default_rng(1).random((700, 4))
    for name in ("a.txt", "b.txt.gz"):
        np.savetxt(tmp_path / name, np.asarray(given), "%.7f", ";", header="ü", encoding="utf8")
        numpy.savetxt(tmp_path / ("n" + name), given, "%.7f", ";", header="ü", encoding="utf8")
        opened = gzip.open if name.endswith("gz") else open
        with opened(tmp_path / name, "rb") as ours, opened(tmp_path / ("n" + name), "rb") as theirs:
            assert ours.read() == theirs.read()
    assert np.array_equal(np.loadtxt(tmp_path / "b.txt.gz", delimiter=";"), given.round(7))
    with pytest.raises(ValueError, match="fname must be a string or file handle"):
        np.savetxt(5, np.asarray(given))
