"""Draws odd values as expressions, for scripts that import junk.py."""

ARRAYS = """
np.arange(6.0).reshape(2, 3); np.arange(5); np.arange(3); np.ones((2, 2)); np.zeros(0); np.zeros((3, 0))
np.zeros((0, 3)); np.zeros((2, 0, 2), 'F'); np.array([], 'l'); np.array([], '?'); np.array(5); np.array(2.5)
np.array(True); np.array(1j); np.array([True, False, True]); np.array([[True, False], [False, True]])
np.array([3, 1, 2], 'b'); np.array([2, 0], 'L'); np.array([2**63 - 1, -2**63]); np.array([2**64 - 1], 'L')
np.array([nan, inf, -inf, -0.0]); np.array([1e308, 5e-324]); np.array([1 + 2j, complex(nan, inf)])
np.arange(4, dtype='e'); np.arange(4, dtype='F'); np.arange(4, dtype='B'); np.arange(12.0).reshape(3, 4).T
np.arange(9.0)[::-1]; np.arange(9)[::2]; np.arange(24.0).reshape(2, 3, 4)[:, ::-1, 1:3]
np.arange(24).reshape(2, 3, 4); np.ones((1,) * 20); np.ones((1,) * 64); np.ones((2,) * 10, '?')
overlapping(); readonly(np.arange(4.0)); readonly(np.arange(3)); np.broadcast_to(np.arange(3.0), (4, 3))
pending(4); pending(2, 3); pending(0); np.arange(4.0).real
np.arange(4j).imag if False else np.ones(3, 'D').imag; aligned_badly(); np.ones(70)
np.arange(6.0).reshape(2, 3)[1]; np.arange(6.0)[2:2]; np.ones((3, 1)); np.ones((1, 3)); np.eye(3)
np.diagonal(np.eye(3)); sub_array(3); sub_array(2, 2); sub_array(); np.arange(5000.0)
np.ones((70, 80), 'f'); np.zeros((2, 3), 'F').T; np.array([[1, 2], [3, 4]], 'bfloat16'); np.ones(3, 'h')
np.array([0, 0, 1, 1, 2]); np.array([-1, -2, -3]); np.array([1, 2.5])
"""

# Of so many elements that nobody has the memory for them, or without an end.
HUGE_ARRAYS = """
np.broadcast_to(np.array(1.0), (2**40,)); np.broadcast_to(np.array(1), (2**31, 3))
np.broadcast_to(np.array(1), (2**20,) * 2); np.broadcast_to(np.ones((3, 1)), (3, 2**33))
np.broadcast_to(np.array(1, 'b'), (2**62,)); np.broadcast_to(np.zeros(0), (2**40, 0))
np.broadcast_to(np.array(True), (2**31, 2**31)); np.zeros((2**40, 0)); np.zeros((0, 2**62), 'b')
Gives(len=3, getitem=1); np.c_
"""

SCALARS = """
np.float64(3); np.int64(-1); np.bool_(True); np.uint64(2**64 - 1); np.int8(-128); np.float16(1)
np.complex64(1j); np.float32(nan); np.int64(2**63 - 1); np.int64(-2**63); np.float64(inf); np.bfloat16(2)
np.uint8(255); np.float64(0.5)
"""

NUMBERS = """
None; True; False; 0; 1; -1; 2; 3; 4; 5; 7; -2; -3; 63; 64; 65; 127; 128; 255; 256; -129; 2**31 - 1; 2**31
-2**31; -2**31 - 1; 2**32 - 1; 2**32; 2**33; 2**52 + 1; 2**62; 2**63 - 1; 2**63; -2**63; -2**63 - 1
2**64 - 1; 2**64; 10**30; -10**30; 10**400; 0.0; -0.0; 0.5; 1.5; -1.5; 2.0; 1e300; 5e-324; nan; inf; -inf
1e19; 9.3e18; 1j; complex(nan, inf); 0j; 1e400
"""

TEXTS = """
''; 'x'; 'f8'; 'float64'; 'd'; 'i'; '?'; 'V'; 'O'; 'U3'; 'C'; 'F'; 'A'; 'K'; 'k'; 'raise'; 'wrap'; 'clip'
'same_kind'; 'unsafe'; 'no'; 'safe'; 'left'; 'right'; 'ij'; 'xy'; 'ij,jk->ik'; 'i->'; 'ii'; '...'; 'i,j'
'->'; ',->'; 'a' * 60; 'reflect'; 'constant'; '\\0'; '\\ud800'; 'é' * 9; 'full'; 'same'; 'valid'; 'linear'
'nearest'; 'quicksort'; 'stable'; 'cpu'; 'cuda'; 'cuda:99'; 'auto'; '1'; 'nan'; '1e400'; '(3,)f8'; 'i4,f8'
'>f8'; '<i4'; 'x' * 10**5; b''; b'abc'; b'\\xff' * 16; b'f8'
"""

CONTAINERS = """
(); []; {}; set(); frozenset((1,)); [1, 2, 3]; [1.5, 2]; [[1, 2], [3]]; [[]]; [[], []]; [1, [2]]; [None]
['a']; [0]; [-1]; [True]; (0,); (1,); (2, 3); (0, 1); (1, 0); (-1, -2); (0, 0); (3, 0); (-1,); (2**62,)
(2**62, 2**62); (2**31, 2**31); (2**63,); (2**64, 1); (0, 2**62); (2**62, 0, 2**62); (1,) * 65; [1] * 100
(None,); (None, None); (0.5,); ('a',); ((0, 1), (2, 3)); [[0, 1], [1, 0]]; [[1, 2], [3, 4]]; [[True, False]]
[np.zeros(2), 1]; [np.zeros(2), np.zeros(3)]; [np.arange(3), np.arange(3)]; (np.ones(2),) * 3; deep(10)
deep(70); deep(2000); cyclic(); {'a': 1}; {0: 1, 1: 2}; {1, 2}; range(5); range(0); range(3, -9, -2)
(slice(None), 0); [slice(None)]; (Ellipsis,); (Ellipsis, Ellipsis); (x for x in range(3)); iter([1, 2])
map(abs, [1, -1]); zip([1], [2]); (x for x in ()); iter(()); itertools.repeat(1, 5); dict(a=1).items()
dict(a=1).values(); SubList([1, 2]); SubTuple((1, 2)); [1e400, 10**30]; [10**400]; [1j, 2]; [[[[[1]]]]]
[b'a', 1]; ['1', '2']; [Ellipsis]; [(1, 2), [3, 4]]; [SubInt(1), SubFloat(2)]; [np.float64(1), np.int8(2)]
[numpy.arange(2), [1, 2]]; [memoryview(b'ab')]; Point(1, 2); [[np.ones(2)] * 2] * 2; [np.ones((0, 2))]
"""

SLICES = """
slice(None); slice(1, None, 2); slice(None, None, -1); slice(None, None, 0); slice('a'); slice(2**70)
slice(-2**63, 2**63, 2**62); slice(0.5); slice(np.int64(1)); slice(None, None, -2**63); slice(2, 1)
Ellipsis; NotImplemented; slice(Raises('__index__')); None; slice(3, -2**64, -1)
slice(np.array(1), np.array([2]))
"""

TYPES = """
int; float; complex; bool; str; bytes; object; type; list; np.ndarray; np.float32; np.int8; np.generic
np.number; np.floating; np.dtype('f8'); np.dtype('?'); np.dtype('D'); np.dtype; numpy.float32
numpy.dtype('f4'); numpy.dtype('>f8'); numpy.dtype('O'); numpy.dtype('U3'); numpy.dtype('i4,f8')
numpy.ndarray; np; numpy; np.add; np.sum; np.bfloat16; SubArray; SubInt; np.complex64; np.uint64; np.int64
numpy.int32; numpy.datetime64; numpy.dtype('M8[s]'); Has(dtype=np.dtype('f4')); Has(dtype=5); Has(type=3)
np.bool
"""

OTHERS = """
lambda *a, **k: 0; lambda *a, **k: a[0]; lambda: 1 / 0; len; total; as_is; object(); Oops(); Oops
property(); memoryview(b'abc'); bytearray(8); memoryview(array.array('d', [1, 2]))
array.array('d', [1, 2, 3]); array.array('b'); array.array('u', 'ab'); (ctypes.c_int * 3)(1, 2, 3)
(ctypes.c_double * 2 * 2)(); ctypes.c_int(3); memoryview(bytearray(24)).cast('d')
memoryview(bytearray(12))[::-2]; fractions.Fraction(1, 3); decimal.Decimal('1.5'); decimal.Decimal('nan')
datetime.date(2020, 1, 1); datetime.timedelta(1); numpy.arange(3.0); numpy.zeros((2, 2), order='F')
numpy.array(['a']); numpy.array([None]); numpy.array([1, 'x'], object); numpy.array(2)
numpy.zeros(2, 'i4,f8'); numpy.arange(3, dtype='>f8'); numpy.zeros((3, 0)); numpy.float32(2)
numpy.int64(-1); numpy.bool_(True); numpy.datetime64('2020'); numpy.ma.masked
numpy.ma.array([1, 2], mask=[0, 1]); numpy.zeros(2, 'g'); numpy.float64(nan); numpy.arange(5)[::-1]
numpy.array([2**64 - 1], 'u8'); numpy.matrix([[1, 2]]); numpy.zeros(3, 'S2')
numpy.broadcast_to(numpy.array(1.0), (2**40,)); SubInt(3); SubFloat(2.5); SubComplex(1j); SubStr('f8')
SubDict(a=1); np.array([1, 2]).flat; np.array([1]).flags; np.random.default_rng(1); np.random.PCG64(1)
np.random.SeedSequence(1); io.BytesIO(b'abc'); io.StringIO('1 2'); np.poly1d([1, 2]); np.errstate()
np.finfo('f8'); weakref.ref(np.zeros); np.broadcast(1, [2]); np.ndindex(2, 2); np.ndenumerate(np.ones(2))
np.config; np.s_[1:2, ...]; np.mgrid; Raises('__index__', '__int__', '__float__')
Raises('__len__', '__getitem__', '__iter__'); Raises('__array__'); Raises('__bool__', '__eq__')
Raises('__array_interface__'); Raises('__dlpack__'); Raises('__array_ufunc__'); Raises('__array_function__')
Raises('__hash__', '__repr__'); Raises('__getattr__'); Raises('__iter__', '__next__'); Gives(index=3)
Gives(index=2**70); Gives(index='x'); Gives(int=3, float=2.5); Gives(float=nan); Gives(float='x')
Sequence(3, 2); Sequence(-1, 2); Sequence(2**62, 2); Sequence('x', 2); Sequence(0, 3); Gives(array=None)
Gives(array=3); Gives(array=numpy.arange(3)); Gives(array=np.arange(3)); Gives(array=[1, 2])
Gives(complex=1j); Gives(bool=False, eq=True); Gives(bool='x'); Gives(eq=np.ones(2))
Gives(iter=iter([1, 2])); Gives(iter=3); Gives(hash=1, eq=NotImplemented); Gives(array_priority=3)
Gives(array_ufunc=5); Gives(array_function=3); Gives(array_wrap=3); Has(__array_ufunc__=None)
Has(__array_priority__='x'); Has(shape=(2, 3), dtype='f8', ndim=5, size=1); Has(__array_interface__={})
Has(__array_interface__={'version': 3, 'shape': (2,), 'typestr': '<f8'}); Foreign([1, 2]); Foreign(5)
Foreign(numpy.zeros((2, 0))); Converts(numpy.arange(3)); Converts(np.arange(3.0)); Converts(3); Overrides()
Has(__cuda_array_interface__={}); Has(__cuda_array_interface__=3); Has(__array_struct__=3)
np.arange(3.0).__array_interface__; Converts(None)
"""

AXES = """
None; 0; 1; -1; 2; -2; -3; 3; 64; -65; 2**31; 2**32; 2**63; -2**63; 2**64; (); (0,); (0, 1); (1, 0); (0, 0)
(-1, 0); (0.5,); True; 1.0; 'x'; [0]; [0, 1]; np.int64(0); np.array(0); np.array([0]); np.zeros(0)
(0, 1, 2); range(2); Gives(index=0)
"""

DTYPES = """
None; '?'; 'b'; 'B'; 'h'; 'i'; 'l'; 'L'; 'e'; 'f'; 'd'; 'F'; 'D'; 'bfloat16'; float; int; np.float32; 'O'
'x'; 'U3'; numpy.dtype('f4'); np.dtype('l'); 5; bool
"""

SHAPES = """
(); (0,); (3,); (2, 3); (3, 2); (1, 6); (6,); -1; (-1,); (-1, 2); (-1, -1); (2**62, 2**62); (2**32, 2**32)
range(2**62); (2**31,); (0, 2**62); (2**62, 0, 2**62); (2**63 - 1,); (2**63,); (-2,); 5; 2**40; (2, 0)
(1,) * 64; (1,) * 65; (2,) * 64; (4, 6); [2, 3]; np.array([2, 3]); (2.0, 3); ('a',); None; (2**33, 3)
(1, 1, 6); Gives(index=6); np.zeros(0); (np.int64(2), np.int8(3)); 10**30; (10**30, 0); bytes(16)
b'\\xff' * 16
"""


def _split(text):
    return tuple(
        item.strip() for line in text.strip().splitlines() for item in line.split("; ") if item.strip()
    )


GROUPS = {
    name: _split(text)
    for name, text in {
        "arrays": ARRAYS, "scalars": SCALARS, "numbers": NUMBERS, "texts": TEXTS, "containers": CONTAINERS,
        "slices": SLICES, "types": TYPES, "others": OTHERS, "huge": HUGE_ARRAYS, "axes": AXES, "dtypes": DTYPES,
        "shapes": SHAPES,
    }.items()
}  # fmt: skip

# Values that fit the name of a parameter, more or less.
BY_NAME = {
    **dict.fromkeys("axis axes axis1 axis2 axisa axisb axisc source destination".split(), ("axes",)),
    **dict.fromkeys("dtype sctype type dtypes to from_".split(), ("dtypes", "types")),
    **dict.fromkeys("shape newshape new_shape size window_shape dims reps strides".split(), ("shapes",)),
    **dict.fromkeys("out where a x x1 x2 b arr initial condition m v array input ar1 ar2".split(), ("arrays",)),
    **dict.fromkeys("order casting mode kind side indexing method device".split(), ("texts",)),
    **dict.fromkeys("indices index obj key repeats n k N M num bins".split(), ("numbers", "containers")),
    **dict.fromkeys("count minlength".split(), ("numbers", "containers")),
}  # fmt: skip

_WEIGHTS = {
    "arrays": 30, "scalars": 5, "numbers": 20, "texts": 7, "containers": 14, "slices": 3, "types": 5, "others": 14,
    "shapes": 2,
}  # fmt: skip
_NAMES, _COUNTS = tuple(_WEIGHTS), tuple(_WEIGHTS.values())
HUGE = 0.003  # the part of arrays that are too large for memory, which take long where they are read


def value(g, name=None):
    """An expression; of a parameter of that name, if it is given, often one that may be right."""
    if name in BY_NAME and g.random() < 0.6:
        group = g.choice(BY_NAME[name])
    else:
        group = g.choices(_NAMES, _COUNTS)[0]
    if group == "arrays" and g.random() < HUGE:
        group = "huge"
    return g.choice(GROUPS[group])


def array(g):
    return g.choice(GROUPS["huge" if g.random() < HUGE else "arrays"])
