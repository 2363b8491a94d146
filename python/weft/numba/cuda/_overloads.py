"""The types of Numba for what weft.cuda tells of a kernel, and for what it is asked."""

import re

from weft import _core
from weft.cuda._overloads import split, texts_of
from weft.numba import _types
from weft.numba._samples import sample
from weft.numba._signatures import is_signature, normalize_signature

_ARRAY = re.compile(r"array\((\w+), (\d+)d(, read-only)?\)")


def set_types(kernel, signatures):
    """Lets a kernel tell Numba's types, and be compiled for those of signatures."""
    kernel._key_of = _types_of_texts
    kernel._texts_of = _texts_of
    kernel._typeof = _type_of
    signatures = signatures if isinstance(signatures, list) else [signatures]
    kernel._declared = [each for each in signatures if is_signature(each) or hasattr(each, "args")]
    kernel._compile_declared = lambda: _compile_declared(kernel)
    kernel.compile = lambda sig: _compile(kernel, sig)


def _compile_declared(kernel):
    """Once, for where kernels run now."""
    while kernel._declared:
        _compile_for_samples(kernel, kernel._declared.pop())


def _compile_for_samples(kernel, signature):
    kernel._compile(tuple(map(sample, _types_of(signature))), _core._launches_on_gpu())


def _types_of(signature):
    """The types of arguments, also of a signature of Numba's own."""
    try:
        return normalize_signature(signature)[0]
    except (TypeError, ValueError):
        return _types_of_texts(texts_of(signature))


def _compile(kernel, sig):
    """Compiles for a signature, and gives what was compiled."""
    found = kernel.overloads.get(sig)
    if found is None:
        _compile_for_samples(kernel, sig)
        found = kernel.overloads[sig]
    return found


def _texts_of(signature):
    return texts_of(normalize_signature(signature)[0] if isinstance(signature, str) else signature)


def _types_of_texts(texts):
    return tuple(map(_type_of_text, texts))


def _type_of_text(text):
    """Numba's type for weft's text of it. Arrays are those of any strides, since code is for these."""
    found = _ARRAY.fullmatch(text)
    if found:
        return _types.Array(_type_of_text(found[1]), int(found[2]), "A", bool(found[3]))
    if text.startswith("tuple("):
        return _types.Tuple(tuple(map(_type_of_text, split(text[6:-1]))))
    others = {"bool": "boolean", "None": "none", "str": "unicode_type"}
    return _types.names.get(others.get(text, text)) or _types.Dummy(text)


def _type_of(value):
    """Numba's type of an argument; of what has none, one with the name of its class."""
    try:
        return _types.of_value(value)
    except (TypeError, ValueError, NotImplementedError):
        return _types.Dummy(type(value).__name__)
