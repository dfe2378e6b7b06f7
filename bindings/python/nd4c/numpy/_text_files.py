"""Text files: loadtxt, genfromtxt, savetxt, and the numbers of a text.

Lines are split and converted by Python's own functions over whole columns, not element by element."""
import os
import re
from array import array as _block
from contextlib import contextmanager
from itertools import chain, islice
from operator import index as _index, itemgetter

from nd4c import _dtypes
from nd4c._core import core
from nd4c._creation import asarray
from nd4c._functions.support import as_array, cast, op, text as text_of

__all__ = ["genfromtxt", "loadtxt", "savetxt"]

_OPENERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


@contextmanager
def _opened(file, mode, encoding):
    """A file by its name, decompressed by its ending, or the object itself."""
    if not isinstance(file, (str, bytes, os.PathLike)):
        yield file
        return
    path = os.fsdecode(file)
    opener = _OPENERS.get(os.path.splitext(path)[1])
    module = __import__(opener) if opener else None
    with (module.open if module else open)(path, mode + "t", encoding=encoding or "latin1") as stream:
        yield stream


def _lines(file, encoding, where):
    """The lines of a text, without their ends: of a file, an object open for reading, or a list of strings."""
    encoding = None if encoding == "bytes" else encoding
    with _opened(file, "r", encoding) as stream:
        if not hasattr(stream, "read") and not hasattr(stream, "__iter__"):
            raise TypeError("%s: expected a file's name, an object to read from or a list of strings, got %s"
                            % (where, type(file).__name__))
        given = stream.read() if hasattr(stream, "read") else list(stream)
    if isinstance(given, list):
        texts = [one.decode(encoding or "latin1") if isinstance(one, bytes) else one for one in given]
        return [line for text in texts for line in _split_lines(text)]
    return _split_lines(given.decode(encoding or "latin1") if isinstance(given, bytes) else given)


def _split_lines(text):
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


# -- tokens to arrays ------------------------------------------------------------------------------------------------

_CODES = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
          "float32": "f", "float64": "d"}


def _to_bool(token):
    return {"True": True, "False": False}[token] if token in ("True", "False") else bool(int(token))


def _reader(dtype):
    """The function that makes a Python value of a token."""
    return {"b": _to_bool, "i": int, "u": int, "f": float, "c": _to_complex, "U": str}[dtype.kind]


def _to_complex(token):
    return complex(token.replace("+-", "-"))


def _converted(tokens, dtype):
    """A vector of the values of texts. Errors: ValueError or OverflowError without a place."""
    if dtype.kind == "U":
        return asarray(list(tokens)) if tokens else core.zeros((0,), dtype, None)
    if "_" in " ".join(tokens):
        raise ValueError("an underscore is no part of a number")
    read = _reader(dtype)
    if dtype.kind in "bc":
        return asarray(list(map(read, tokens)), dtype=dtype)
    code = _CODES.get(dtype.name, "d")
    values = _block(code, map(read, tokens))
    made = core.from_data(values.tobytes(), (len(values),), _dtypes.by_name["float64" if code == "d" else dtype.name])
    return cast(made, dtype)


def parse_text(where, text, dtype, count=-1, sep=" "):
    """The numbers of a text with `sep` between them; count: how many (-1: all). Errors: ValueError with the first bad one."""
    blank = not sep.strip()
    tokens = text.split() if blank else text.split(sep.strip())
    tokens = [token.strip() for token in tokens] if not blank else tokens
    if tokens and not tokens[-1]:
        tokens = tokens[:-1]
    if count >= 0:
        tokens = tokens[:count]
    try:
        return _converted(tokens, dtype)
    except (ValueError, OverflowError, KeyError):
        place, token = _first_bad(tokens, dtype)
        raise ValueError("%s: element %d, %r, is no %s (string or file could not be read to its end due to unmatched data)"
                         % (where, place, token, dtype)) from None


def _first_bad(tokens, dtype):
    for place, token in enumerate(tokens):
        try:
            _converted([token], dtype)
        except (ValueError, OverflowError, KeyError):
            return place, token
    raise AssertionError("every token alone can be read")


# -- loadtxt ---------------------------------------------------------------------------------------------------------

def loadtxt(fname, dtype=float, comments="#", delimiter=None, converters=None, skiprows=0, usecols=None, unpack=False, ndmin=0,
            encoding=None, max_rows=None, *, quotechar=None, like=None):
    """The numbers of a text file of which each line has as many.

    fname: a name (.gz, .bz2 and .xz are decompressed), an open file, or a list of strings. comments: what begins one, or
    several; None: nothing. delimiter: one character; None: blanks. converters: a function from texts, or a dict of those by
    column. skiprows, max_rows: lines that are left out first, and rows that are read. usecols: the columns. quotechar: around
    texts that hold delimiters.
    Shapes: (rows, columns), axes of length 1 left out down to ndmin of them; unpack transposes.
    Dtypes: dtype; records are not supported. Errors: ValueError with row and column of what is no number, or if a
    line has another number of columns.

    >>> np.loadtxt(["1 2", "3 4  # the last"])
    array([[1., 2.],
           [3., 4.]])
    """
    dtype = _plain_dtype("loadtxt", dtype)
    if ndmin not in (0, 1, 2):
        raise ValueError("loadtxt: ndmin is %r; it may be 0, 1 or 2 (Illegal value of ndmin keyword)" % (ndmin,))
    skiprows, max_rows = _count("skiprows", skiprows), None if max_rows is None else _count("max_rows", max_rows)
    marks = _comment_marks(comments)
    _check_characters(delimiter, quotechar, marks)
    rows = _rows(_lines(fname, encoding, "loadtxt")[skiprows:], marks, delimiter, quotechar)
    if max_rows is not None:
        rows = list(islice(rows, max_rows))
    columns = None if usecols is None else _columns(usecols)
    values, width = _table("loadtxt", rows, dtype, converters, columns, encoding == "bytes")
    result = op("reshape")(values, (len(rows), width) if rows else (0, 1 if columns is None else len(columns)))
    return _arranged(result, ndmin, unpack)


def _plain_dtype(where, dtype):
    try:
        return _dtypes.of(float if dtype is None else dtype)
    except TypeError:
        raise TypeError("%s: dtype is %r; nd4c has no records: load the columns one by one with usecols"
                        % (where, dtype)) from None


def _count(name, value):
    try:
        value = _index(value)
    except TypeError:
        raise TypeError("loadtxt: %s is %r; argument must be an integer" % (name, value)) from None
    if value < 0:
        raise ValueError("loadtxt: %s is %d (argument must be nonnegative)" % (name, value))
    return value


def _check_characters(delimiter, quotechar, marks):
    """Refuses delimiters, quotes and marks of comments that cannot be told from one another."""
    single = marks[0] if len(marks) == 1 and len(marks[0]) == 1 else None
    control = {"delimiter": delimiter, "quotechar": quotechar, "comments": single}
    for name, value in control.items():
        if value is not None and (not isinstance(value, (str, bytes)) or len(value) != 1):
            raise TypeError("loadtxt: %s is %r (Text reading control character must be a single unicode character or None)"
                            % (name, value))
        if value in ("\n", "\r"):
            raise TypeError("loadtxt: %s is %r, which ends lines (control character '%s' cannot be a newline)"
                            % (name, value, name))
    given = [value for value in control.values() if value is not None]
    if len(set(given)) < len(given) or (delimiter is None and any(value.isspace() for value in given)):
        raise TypeError("loadtxt: delimiter %r, quotechar %r and comments %r have one character for two purposes (The values for "
                        "control characters are incompatible)" % (delimiter, quotechar, single))
    if single is None and marks and quotechar is not None:
        raise ValueError("loadtxt: when multiple comments or a multi-character comment is given, quotes are not supported. "
                         "Leave quotechar out")
    if delimiter is not None and any(delimiter in mark for mark in marks if isinstance(delimiter, str)):
        raise TypeError("loadtxt: Comment characters %r cannot include the delimiter %r" % (marks, delimiter))


def _comment_marks(comments):
    if comments is None:
        return []
    marks = [comments] if isinstance(comments, (str, bytes)) else list(comments)
    marks = [mark.decode("latin1") if isinstance(mark, bytes) else mark for mark in marks]
    if "" in marks:
        raise ValueError("comments: an empty string begins no comment (comments cannot be an empty string); use None")
    return marks


def _rows(lines, marks, delimiter, quotechar=None):
    """A list of tokens for each line that is not empty."""
    delimiter = delimiter.decode("latin1") if isinstance(delimiter, bytes) else delimiter
    if quotechar is not None:
        return _quoted_rows(lines, marks, delimiter, quotechar)
    for mark in marks:
        if any(mark in line for line in lines):
            lines = [line.partition(mark)[0] for line in lines]
    if delimiter is None:
        return list(filter(None, map(str.split, lines)))
    return [line.split(delimiter) for line in lines if line]


def _quoted_rows(lines, marks, delimiter, quote):
    """As _rows, with texts in quotes, which may hold delimiters, marks of comments and ends of lines; a doubled quote is one."""
    quote_text, blank = re.escape(quote), delimiter is None
    bare = "[^%s\n]" % (r"\s" if blank else re.escape(delimiter))
    stop = "".join("(?!%s)" % re.escape(mark) for mark in marks)
    field = re.compile(r"%s(?:%s((?:[^%s]|%s%s)*)%s)?((?:%s%s)*)" % (
        r"[^\S\n]*" if blank else "", quote_text, quote_text, quote_text, quote_text, quote_text, stop, bare))
    text, rows, row, place = "\n".join(lines), [], [], 0
    ended = True
    while place < len(text):
        match = field.match(text, place)
        quoted, plain = match.group(1), match.group(2)
        place = match.end()
        if quoted is not None or plain or not blank:
            row.append((quoted.replace(quote * 2, quote) if quoted is not None else "") + plain)
        following = text[place:place + 1]
        if following and following != "\n" and (following == delimiter or (blank and following.isspace())):
            place += 1
            ended = False
            continue
        end = text.find("\n", place)
        place = len(text) if end < 0 else end + 1
        if row and row != [""]:
            rows.append(row)
        row, ended = [], True
    if not ended and row:
        rows.append(row + [""] * (not blank))
    return rows


def _columns(usecols):
    if isinstance(usecols, (str, bytes)):
        raise TypeError("usecols: expected an int or a sequence of ints, got %r" % (usecols,))
    try:
        return [_index(usecols)]
    except TypeError:
        pass
    try:
        return [_index(column) for column in usecols]
    except TypeError:
        raise TypeError("usecols: expected an int or a sequence of ints, got %r (usecols must be an int or a sequence of ints)"
                        % (usecols,)) from None


def _table(where, rows, dtype, converters, columns, as_bytes):
    """All values in C order, and the number of columns."""
    if not rows:
        return core.zeros((0,), dtype, None), 0
    if columns is None:
        width = len(rows[0])
        if set(map(len, rows)) != {width}:
            number = next(number for number, row in enumerate(rows) if len(row) != width)
            raise ValueError("%s: the number of columns changed from %d to %d at row %d; use `usecols` to select a subset and "
                             "avoid this error" % (where, width, len(rows[number]), number + 1))
    else:
        width, rows = len(columns), _selected(where, rows, columns)
    if converters is not None:
        rows = _by_converters(where, rows, dtype, converters, columns, width, as_bytes)
        flat = list(chain.from_iterable(rows))
        return asarray(flat, dtype=dtype), width
    flat = list(chain.from_iterable(rows))
    try:
        return _converted(flat, dtype), width
    except (ValueError, OverflowError, KeyError):
        place, token = _first_bad(flat, dtype)
        column = place % width if columns is None else columns[place % width]
        raise ValueError("%s: could not convert string %r to %s at row %d, column %d"
                         % (where, token, dtype, place // width, column + 1)) from None


def _selected(where, rows, columns):
    try:
        if len(columns) == 1:
            return [[row[columns[0]]] for row in rows]
        return list(map(itemgetter(*columns), rows)) if columns else [[] for _ in rows]
    except IndexError:
        number, row, column = next((number, row, column) for number, row in enumerate(rows) for column in columns
                                   if not -len(row) <= column < len(row))
        raise ValueError("%s: invalid column index %d at row %d with %d columns"
                         % (where, column, number + 1, len(row))) from None


def _by_converters(where, rows, dtype, converters, columns, width, as_bytes):
    """Rows whose columns have gone through their functions; columns without one are read as the dtype."""
    functions = {}
    if callable(converters):
        functions = {column: converters for column in range(width)}
    elif isinstance(converters, dict):
        for column, function in converters.items():
            if not callable(function):
                raise TypeError("%s: the converter of column %r is %r; values of the converters dictionary must be callable"
                                % (where, column, function))
            if not hasattr(column, "__index__"):
                raise TypeError("%s: keys of the converters dictionary must be integers; got %r" % (where, column))
            column = _index(column)
            if columns is None:
                if not -width <= column < width:
                    raise ValueError("%s: converter specified for column %d, which is invalid for the number of fields %d"
                                     % (where, column, width))
                functions[column % width] = function
            elif column in columns:
                functions[columns.index(column)] = function
    else:
        raise TypeError("%s: converters must be a dictionary mapping columns to converter functions or a single callable, got %s"
                        % (where, type(converters).__name__))
    read = _reader(dtype)
    parts = []
    for column, texts in enumerate(zip(*rows)):
        function = functions.get(column)
        if function is not None and as_bytes:
            texts = [text.encode("latin1") for text in texts]
        parts.append(list(map(function or read, texts)))
    return zip(*parts)


def _arranged(result, ndmin, unpack):
    """Axes of length 1 left out, as long as more than ndmin are there."""
    if result.ndim > ndmin and 1 in result.shape:
        result = op("reshape")(result, tuple(extent for extent in result.shape if extent != 1))
    if result.ndim < ndmin:
        result = op("reshape")(result, (1,) * ndmin if not result.ndim else (-1,) if ndmin == 1 else (result.shape[0], 1))
    return op("transpose")(result, None) if unpack else result


# -- genfromtxt ------------------------------------------------------------------------------------------------------

def genfromtxt(fname, dtype=float, comments="#", delimiter=None, skip_header=0, skip_footer=0, converters=None,
               missing_values=None, filling_values=None, usecols=None, names=None, excludelist=None,
               deletechars=" !#$%&'()*+,-./:;<=>?@[\\]^{|}~", replace_space="_", autostrip=False, case_sensitive=True,
               defaultfmt="f%i", unpack=None, usemask=False, loose=True, invalid_raise=True, max_rows=None, encoding=None, *,
               ndmin=0, like=None):
    """As loadtxt, with a value for what is missing: NaN of floats, -1 of integers, False of bools, or filling_values.

    delimiter: a string, or the width of all columns, or of each. skip_header, skip_footer: lines left out at both ends.
    missing_values: further texts of missing elements, or a list of those by column; filling_values: a number, or a list or
    dict of those by column. dtype=None: the least of bool, int64, float64 and complex128 that holds all. loose=False refuses
    what is no number. invalid_raise=False leaves lines out that have another number of columns.
    names, usemask: records and masked arrays are not supported: TypeError.

    Shapes: a row a line, a column a field; one axis for one of either.
    Dtypes: `dtype`; one for all columns.
    Errors: ValueError for lines of different lengths.

    >>> np.genfromtxt(["1,2", "3,"], delimiter=",")
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    if names or usemask:
        raise TypeError("genfromtxt: nd4c has no records and no masked arrays; leave names and usemask out, and skip the line of "
                        "names with skip_header")
    wanted = None if dtype is None else _plain_dtype("genfromtxt", dtype)
    lines = _lines(fname, encoding, "genfromtxt")[skip_header:]
    if skip_footer:
        if max_rows is not None:
            raise ValueError("genfromtxt: skip_footer and max_rows are both given; only one may be")
        lines = lines[:-skip_footer]
    rows = _split_columns(lines, comments, delimiter, autostrip)[:max_rows]
    rows = _equally_long(rows, invalid_raise)
    if usecols is not None:
        columns = _columns(usecols)
        rows = _selected("genfromtxt", rows, columns)
    if not rows:
        return core.zeros((0,), wanted or _dtypes.DEFAULTS[float], None)
    values = []
    for column, texts in enumerate(zip(*rows)):
        place = column if usecols is None else columns[column]
        values.append(_filled(texts, place, column, wanted, converters, missing_values, filling_values, loose))
    common = wanted or _common_dtype(values)
    result = op("stack")([asarray(list(one), dtype=common) for one in values], 1)
    return _arranged(result, ndmin, bool(unpack))


def _split_columns(lines, comments, delimiter, autostrip):
    marks = _comment_marks(comments)
    for mark in marks:
        lines = [line.partition(mark)[0] for line in lines]
    if isinstance(delimiter, bytes):
        delimiter = delimiter.decode("latin1")
    if delimiter is None or isinstance(delimiter, str):
        rows = [line.split(delimiter) for line in lines if line.strip()]
    else:
        rows = [_cut(line.rstrip("\n"), delimiter) for line in lines if line.strip()]
    return [[text.strip() for text in row] for row in rows] if autostrip or delimiter is not None else rows


def _cut(line, widths):
    """Pieces of a line with the widths given, or of one width."""
    if hasattr(widths, "__index__"):
        widths = [widths] * -(-len(line) // widths)
    ends = [sum(widths[:number + 1]) for number in range(len(widths))]
    return [line[begin:end] for begin, end in zip([0] + ends, ends)]


def _equally_long(rows, invalid_raise):
    if not rows:
        return rows
    width = len(rows[0])
    bad = [number for number, row in enumerate(rows) if len(row) != width]
    if bad and invalid_raise:
        raise ValueError("genfromtxt: some errors were detected: %s" % "; ".join(
            "line %d (got %d columns instead of %d)" % (number + 1, len(rows[number]), width) for number in bad))
    return [row for row in rows if len(row) == width]


def _filled(texts, place, column, dtype, converters, missing_values, filling_values, loose):
    """The values of a column; what is missing or unreadable has its filling."""
    function = (converters or {}).get(place, (converters or {}).get(column))
    if function is not None:
        return [function(text) for text in texts]
    absent = {""} | _missing(missing_values, place, column)
    if dtype is None:
        return _guessed(texts, absent, _filling(filling_values, place, column, None))
    read = _reader(dtype)
    default = _filling(filling_values, place, column, {"b": False, "i": -1, "u": 0, "f": float("nan"), "c": complex("nan+0j"),
                                                       "U": ""}[dtype.kind])
    try:
        return [default if text in absent else read(text) for text in texts]
    except (ValueError, KeyError):
        if not loose:
            bad = next(text for text in texts if text not in absent and not _readable(text, read))
            raise ValueError("genfromtxt: could not convert string %r to %s in column %d" % (bad, dtype, place)) from None
        return [default if text in absent or not _readable(text, read) else read(text) for text in texts]


def _readable(text, read):
    try:
        read(text)
        return True
    except (ValueError, KeyError):
        return False


def _missing(given, place, column):
    """The texts of missing elements of a column."""
    if given is None:
        return set()
    if isinstance(given, dict):
        given = given.get(place, given.get(column, given.get(None, ())))
    elif isinstance(given, (list, tuple)):
        given = given[column] if column < len(given) else ()
    else:
        given = str(given.decode() if isinstance(given, bytes) else given).split(",")
    given = [given] if isinstance(given, (str, int, float)) else given
    return {str(one) for one in given}


def _filling(given, place, column, default):
    if given is None:
        return default
    if isinstance(given, dict):
        return given.get(place, given.get(column, default))
    if isinstance(given, (list, tuple)):
        return given[column] if column < len(given) and given[column] is not None else default
    return given


def _guessed(texts, absent, filling):
    """The values of a column as the narrowest kind that all its texts have."""
    for read, default in ((_strictly_bool, False), (int, -1), (float, float("nan")), (_to_complex, complex("nan+0j")), (str, "")):
        if all(text in absent or _readable(text, read) for text in texts):
            default = default if filling is None else filling
            return [default if text in absent else read(text) for text in texts]
    raise AssertionError("every text is a str")


def _strictly_bool(text):
    return {"true": True, "false": False}[text.lower()]


def _common_dtype(values):
    kinds = {type(value) for column in values for value in column}
    if str in kinds and len(kinds) > 1:
        raise TypeError("genfromtxt: the columns hold texts and numbers; nd4c has no records: load them one by one with usecols")
    return next(_dtypes.of(kind) for kind in (str, complex, float, int, bool) if kind in kinds)


# -- savetxt ---------------------------------------------------------------------------------------------------------

def savetxt(fname, X, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# ", encoding=None):
    """Writes an array as text, one row a line.

    fname: a name (.gz, .bz2 and .xz are compressed), or an open file, of texts or bytes. X: of one axis (a line for each
    element) or two. fmt: a format for all elements, a list of those by column, or one for a whole row.
    header, footer: texts before and after, each of their lines after `comments`.
    Shapes: one axis or two.
    Dtypes: numbers.
    Errors: ValueError for arrays of more axes, or as many formats as there are no columns; TypeError if fmt does not
    fit.

    >>> import io
    >>> file = io.StringIO()
    >>> np.savetxt(file, [[1, 2], [3, 4]], fmt="%d", delimiter=",")
    >>> file.getvalue()
    '1,2\\n3,4\\n'
    """
    X = as_array(X, "savetxt")
    if X.ndim not in (1, 2):
        raise ValueError("savetxt: expected 1D or 2D array, got %dD array instead" % X.ndim)
    table = op("reshape")(X, (X.size, 1)) if X.ndim == 1 else X
    is_complex = X.dtype.kind == "c"
    newline = text_of(newline, "newline", "savetxt")
    row = _row_format(fmt, text_of(delimiter, "delimiter", "savetxt"), table.shape[1], is_complex) + newline
    with _opened(fname, "w", encoding) as stream:
        write = _writer(stream, encoding)
        if header:
            write(comments + header.replace("\n", "\n" + comments) + newline)
        step = max(1, 65536 // max(table.shape[1], 1))
        for begin in range(0, table.shape[0], step):
            rows = table[begin:begin + step]
            try:
                write(_formatted(row * rows.shape[0], rows, is_complex))
            except TypeError:
                raise TypeError("savetxt: the format %r does not fit elements of %s (Mismatch between array dtype and format "
                                "specifier)" % (row, X.dtype)) from None
        if footer:
            write(comments + footer.replace("\n", "\n" + comments) + newline)


def _formatted(text, rows, is_complex):
    values = op("reshape")(rows, (rows.size,)).tolist()
    if is_complex:
        return (text % tuple(chain.from_iterable((value.real, value.imag) for value in values))).replace("+-", "-")
    return text % tuple(values)


def _row_format(fmt, delimiter, count, is_complex):
    fmt = fmt.decode("latin1") if isinstance(fmt, bytes) else fmt
    if isinstance(fmt, (list, tuple)):
        if len(fmt) != count:
            raise AttributeError("savetxt: fmt has %d formats for %d columns (fmt has wrong shape)" % (len(fmt), count))
        return delimiter.join(fmt)
    if not isinstance(fmt, str):
        raise ValueError("savetxt: invalid fmt: %r; expected a format, or a list of them" % (fmt,))
    given = fmt.count("%")
    if given == 1:
        one = " (%s+%sj)" % (fmt, fmt) if is_complex else fmt
        return delimiter.join([one] * count)
    if given == (2 * count if is_complex else count):
        return fmt
    raise ValueError("savetxt: fmt has wrong number of %% formats: %r has %d for %d columns" % (fmt, given, count))


def _writer(stream, encoding):
    """stream.write for texts, of files open for bytes, too."""
    def write(text):
        if state[0]:
            try:
                return stream.write(text)
            except TypeError:
                state[0] = False
        return stream.write(text.encode(encoding or "latin1"))
    if not hasattr(stream, "write"):
        raise ValueError("savetxt: fname must be a string or file handle, not %s" % type(stream).__name__)
    state = [True]
    return write
