"""Tables of plain numbers as text: what numpy.savetxt writes, many rows at a time."""

import os
import re

_NUMBER = r"%[-+ #0]*\d*(?:\.\d+)?[diouxXeEfFgG]"
_NUMBERS = re.compile(f"(?:[^%]|{_NUMBER})*")
_ROWS = 256


def _row_format(fmt, columns, delimiter):
    """The format of a row, or None where numpy.savetxt has to decide."""
    if isinstance(fmt, str):
        count = fmt.count("%")
        row = delimiter.join([fmt] * columns) if count == 1 else fmt if count == columns else None
    elif (
        isinstance(fmt, (list, tuple)) and len(fmt) == columns and all(isinstance(each, str) for each in fmt)
    ):
        row = delimiter.join(fmt)
        count = row.count("%")
        if count != columns:
            return None
    else:
        return None
    return row if row is not None and _NUMBERS.fullmatch(row) else None


class _Stream:
    """A stream that takes text, or else bytes."""

    def __init__(self, stream, encoding):
        self.stream, self.encoding, self.takes_text = stream, encoding, None

    def write(self, text):
        if self.takes_text is not False:
            try:
                self.stream.write(text)
                self.takes_text = True
                return
            except TypeError:
                if self.takes_text:
                    raise
                self.takes_text = False
        self.stream.write(text.encode(self.encoding))


def write_table(
    fname,
    array,
    fmt="%.18e",
    delimiter=" ",
    newline="\n",
    header="",
    footer="",
    comments="# ",
    encoding=None,
):
    """Writes NumPy's array of real numbers as numpy.savetxt does; False, with nothing written, where that has to."""
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 2) or array.dtype.itemsize > 8:
        return False
    table = array.reshape(-1, 1) if array.ndim == 1 else array
    texts = (delimiter, newline, header, footer, comments)
    if not all(isinstance(each, str) for each in texts) or "%" in delimiter or table.shape[1] == 0:
        return False
    row = _row_format(fmt, table.shape[1], delimiter)
    if row is None:
        return False
    if isinstance(fname, os.PathLike):
        fname = os.fspath(fname)
    if isinstance(fname, str):
        from numpy.lib import _datasource

        open(fname, "w").close()
        with _datasource.open(fname, "wt", encoding=encoding) as file:
            _write(file, table, row, *texts[1:])
    elif hasattr(fname, "write"):
        _write(_Stream(fname, encoding or "latin1"), table, row, *texts[1:])
    else:
        return False
    return True


def _write(stream, table, row, newline, header, footer, comments):
    def comment(text):
        if text:
            text = text.replace("\n", "\n" + comments)
            stream.write(comments + text + newline)

    comment(header)
    line = row + newline.replace("%", "%%")
    for begin in range(0, len(table), _ROWS):
        rows = table[begin : begin + _ROWS]
        try:
            text = line * len(rows) % tuple(rows.ravel().tolist())
        except TypeError as error:
            raise TypeError(
                f"Mismatch between array dtype ('{table.dtype}') and format specifier ('{row}')"
            ) from error
        stream.write(text)
    comment(footer)
