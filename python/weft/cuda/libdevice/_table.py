"""What each function of libdevice computes.

A line has a name, its results, its arguments (d: float64, f: float32, i: int32, l: int64, h: int16), and the expression
of x, y and z, which are of these types. Results are cast at the end.
"""

# Each is there for float32, too, with an f behind its name.
_OF_BOTH = """
acos d d        numpy.arccos(x)
acosh d d       numpy.arccosh(x)
asin d d        numpy.arcsin(x)
asinh d d       numpy.arcsinh(x)
atan d d        numpy.arctan(x)
atan2 d dd      numpy.arctan2(x, y)
atanh d d       numpy.arctanh(x)
cbrt d d        numpy.cbrt(x)
ceil d d        numpy.ceil(x)
copysign d dd   numpy.copysign(x, y)
cos d d         numpy.cos(x)
cosh d d        numpy.cosh(x)
cospi d d       cosine_of_pi(x)
erf d d         math.erf(x)
erfc d d        math.erfc(x)
erfcinv d d     inverse_of_erfc(x)
erfcx d d       scaled_erfc(x)
erfinv d d      inverse_of_erf(x)
exp d d         numpy.exp(x)
exp10 d d       numpy.power(10.0, numpy.float64(x))
exp2 d d        numpy.exp2(x)
expm1 d d       numpy.expm1(x)
fabs d d        numpy.fabs(x)
fdim d dd       positive_difference(x, y)
floor d d       numpy.floor(x)
fma d ddd       cuda.fma(x, y, z)
fmax d dd       numpy.fmax(x, y)
fmin d dd       numpy.fmin(x, y)
fmod d dd       numpy.fmod(x, y)
frexp di d      parts_of_two(x)
hypot d dd      numpy.hypot(x, y)
ilogb i d       exponent_as_integer(x)
j0 d d          bessel_j(0, x)
j1 d d          bessel_j(1, x)
jn d id         bessel_j(x, y)
ldexp d di      scaled_by_two(x, y)
lgamma d d      math.lgamma(x)
llrint l d      to_int64(numpy.rint(x))
llround l d     to_int64(rounded_half_away(x))
log d d         numpy.log(x)
log10 d d       numpy.log10(x)
log1p d d       numpy.log1p(x)
log2 d d        numpy.log2(x)
logb d d        exponent(x)
modf dd d       numpy.modf(x)
nearbyint d d   numpy.rint(x)
nextafter d dd  numpy.nextafter(x, y)
normcdf d d     normal_distribution(x)
normcdfinv d d  inverse_of_normal_distribution(x)
pow d dd        numpy.power(x, y)
powi d di       numpy.power(numpy.float64(x), numpy.float64(y))
rcbrt d d       1.0 / numpy.cbrt(numpy.float64(x))
remainder d dd  remainder_and_quotient(x, y)[0]
remquo di dd    remainder_and_quotient(x, y)
rint d d        numpy.rint(x)
round d d       rounded_half_away(x)
rsqrt d d       1.0 / numpy.sqrt(numpy.float64(x))
scalbn d di     scaled_by_two(x, y)
sin d d         numpy.sin(x)
sincos dd d     (numpy.sin(x), numpy.cos(x))
sincospi dd d   (sine_of_pi(x), cosine_of_pi(x))
sinh d d        numpy.sinh(x)
sinpi d d       sine_of_pi(x)
sqrt d d        numpy.sqrt(x)
tan d d         numpy.tan(x)
tanh d d        numpy.tanh(x)
tgamma d d      math.gamma(x)
trunc d d       numpy.trunc(x)
y0 d d          bessel_y(0, x)
y1 d d          bessel_y(1, x)
yn d id         bessel_y(x, y)
"""

_OF_ONE = """
abs i i                numpy.absolute(x)
brev i i               cuda.brev(x)
brevll l l             cuda.brev(x)
byte_perm i iii        chosen_bytes(x, y, z)
clz i i                cuda.clz(x)
clzll i l              cuda.clz(x)
double2hiint i d       bits_of_float64(x) >> 32
double2loint i d       bits_of_float64(x)
double_as_longlong l d bits_of_float64(x)
fast_cosf f f          numpy.cos(x)
fast_exp10f f f        numpy.exp2(x * numpy.float32(3.321928094887362))
fast_expf f f          numpy.exp(x)
fast_fdividef f ff     x / y
fast_log10f f f        numpy.log10(x)
fast_log2f f f         numpy.log2(x)
fast_logf f f          numpy.log(x)
fast_powf f ff         numpy.power(x, y)
fast_sincosf ff f      (numpy.sin(x), numpy.cos(x))
fast_sinf f f          numpy.sin(x)
fast_tanf f f          numpy.sin(x) / numpy.cos(x)
ffs i i                cuda.ffs(x)
ffsll i l              cuda.ffs(x)
finitef i f            numpy.isfinite(x)
float2half_rn h f      bits_of_float16(x)
float_as_int i f       bits_of_float32(x)
frsqrt_rn f f          1.0 / numpy.sqrt(numpy.float64(x))
hadd i ii              numpy.int64(x) + numpy.int64(y) >> 1
half2float f h         float16_of_bits(x)
hiloint2double d ii    float64_of_bits(numpy.int64(x) << 32 | unsigned(y))
int2double_rn d i      x
int_as_float f i       float32_of_bits(x)
isfinited i d          numpy.isfinite(x)
isinfd i d             numpy.isinf(x)
isinff i f             numpy.isinf(x)
isnand i d             numpy.isnan(x)
isnanf i f             numpy.isnan(x)
llabs l l              numpy.absolute(x)
llmax l ll             max(x, y)
llmin l ll             min(x, y)
longlong_as_double d l float64_of_bits(x)
max i ii               max(x, y)
min i ii               min(x, y)
mul24 i ii             low_24_bits(x) * low_24_bits(y)
mul64hi l ll           high_of_product(x, y)
mulhi i ii             numpy.int64(x) * numpy.int64(y) >> 32
popc i i               cuda.popc(x)
popcll i l             cuda.popc(x)
rhadd i ii             numpy.int64(x) + numpy.int64(y) + 1 >> 1
sad i iii              abs(numpy.int64(x) - numpy.int64(y)) + numpy.int64(z)
saturatef f f          numpy.fmin(numpy.fmax(x, numpy.float32(0)), numpy.float32(1))
signbitd i d           numpy.signbit(x)
signbitf i f           numpy.signbit(x)
uhadd i ii             unsigned(x) + unsigned(y) >> 1
uint2double_rn d i     unsigned(x)
ullmax l ll            max(numpy.uint64(x), numpy.uint64(y))
ullmin l ll            min(numpy.uint64(x), numpy.uint64(y))
umax i ii              max(unsigned(x), unsigned(y))
umin i ii              min(unsigned(x), unsigned(y))
umul24 i ii            (x & 0xFFFFFF) * (y & 0xFFFFFF)
umul64hi l ll          high_of_unsigned_product(numpy.uint64(x), numpy.uint64(y))
umulhi i ii            high_of_unsigned_product(numpy.uint64(unsigned(x)) << 32, numpy.uint64(unsigned(y)))
urhadd i ii            unsigned(x) + unsigned(y) + 1 >> 1
usad i iii             abs(unsigned(x) - unsigned(y)) + unsigned(z)
"""

# Each with all roundings: _rn to the nearest, _rd down, _ru up, _rz toward zero. `{}` is the function that rounds.
_ROUNDED = """
dadd d dd         {}_sum(x, y)
ddiv d dd         {}_quotient(x, y)
dmul d dd         {}_product(x, y)
double2float f d  {}_float32(x)
drcp d d          {}_quotient(1.0, x)
dsqrt d d         {}_root(x)
fadd f ff         {}_sum32(x, y)
fdiv f ff         {}_quotient32(x, y)
fma d ddd         {}_fma(x, y, z)
fmaf f fff        {}_fma32(x, y, z)
fmul f ff         {}_float32(numpy.float64(x) * numpy.float64(y))
frcp f f          {}_quotient32(numpy.float32(1), x)
fsqrt f f         {}_root32(x)
fsub f ff         {}_sum32(x, -y)
int2float f i     {}_float32(numpy.float64(x))
ll2double d l     {}_of_int64(numpy.float64(x), x)
ll2float f l      {}_of_int64(numpy.float32(x), x)
uint2float f i    {}_float32(numpy.float64(unsigned(x)))
ull2double d l    {}_of_uint64(numpy.float64(numpy.uint64(x)), numpy.uint64(x))
ull2float f l     {}_of_uint64(numpy.float32(numpy.uint64(x)), numpy.uint64(x))
"""
_ROUNDINGS = {"rn": "nearest", "rd": "down", "ru": "up", "rz": "chopped"}

# Numbers that do not fit become the nearest that does; what NaN becomes is a GPU's as well.
_TO_INTEGERS = """
double2int i d    to_int32({}(x), -2147483648)
double2ll l d     to_int64({}(x))
double2uint i d   to_uint32({}(x), 2147483648)
double2ull l d    to_uint64({}(x))
float2int i f     to_int32({}(x), 0)
float2ll l f      to_int64({}(x))
float2uint i f    to_uint32({}(x), 0)
float2ull l f     to_uint64({}(x))
"""
_TO_WHOLE = {"rn": "numpy.rint", "rd": "numpy.floor", "ru": "numpy.ceil", "rz": "numpy.trunc"}


def _lines(text):
    return [line.split(maxsplit=3) for line in text.strip().splitlines()]


def _table():
    """By name: the types of the results and of the arguments, and the expression."""
    found = {name: tuple(rest) for name, *rest in _lines(_OF_ONE)}
    for name, results, arguments, expression in _lines(_OF_BOTH):
        found[name] = results, arguments, expression
        found[name + "f"] = results.replace("d", "f"), arguments.replace("d", "f"), expression
    for text, ways in ((_ROUNDED, _ROUNDINGS), (_TO_INTEGERS, _TO_WHOLE)):
        for name, results, arguments, expression in _lines(text):
            for suffix, way in ways.items():
                found[f"{name}_{suffix}"] = results, arguments, expression.format(way)
    return found


TABLE = _table()
