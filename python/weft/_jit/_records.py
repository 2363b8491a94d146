"""NamedTuples, dataclasses and enumerations, as the compiler takes them."""

import sys


def is_record(kind):
    """Whether a class is a NamedTuple or a dataclass."""
    if issubclass(kind, tuple):
        return isinstance(getattr(kind, "_fields", None), tuple)
    return "__dataclass_fields__" in vars(kind)


def is_enumeration(kind):
    """Whether a class is an enumeration whose members are all listed, so not one of flags."""
    enum = sys.modules.get("enum")
    return (
        enum is not None
        and isinstance(kind, enum.EnumMeta)
        and not issubclass(kind, enum.Flag)
        and len(kind) > 0
    )


def is_frozen(kind):
    """Whether a record's instances stay what they are."""
    return issubclass(kind, tuple) or kind.__dataclass_params__.frozen


def values_of(record):
    """The values of the fields, in their order."""
    kind = type(record)
    if is_enumeration(kind):
        return (list(kind).index(record),)
    if issubclass(kind, tuple):
        return tuple(record)
    return tuple(getattr(record, field.name) for field in _fields(kind))


def describe_record(kind):
    """What the compiler has to know of a class; None of one that is no record.

    A tuple: the name, what it is ("tuple", "dataclass", "enumeration" or "integers"), the fields' names, their defaults
    as (whether there is one, value), which are given by keyword alone, whether instances are equal and ordered as their
    fields are, and why a compiled function cannot make an instance ("" where it can). An enumeration has its members'
    names and values as fields; the value of a member is its number among them.
    """
    if is_enumeration(kind):
        what = "integers" if issubclass(kind, int) else "enumeration"
        members = list(kind)
        names, values = tuple(each.name for each in members), [(True, each.value) for each in members]
        return (kind.__name__, what, names, values, [False] * len(names), True, False, "")
    if not is_record(kind):
        return None
    if issubclass(kind, tuple):
        fields = kind._fields
        given = kind._field_defaults
        defaults = [(name in given, given.get(name)) for name in fields]
        return (
            kind.__name__,
            "tuple",
            fields,
            defaults,
            [False] * len(fields),
            True,
            True,
            _why_no_tuple(kind),
        )
    import dataclasses

    fields = _fields(kind)
    defaults = [
        (True, field.default) if field.default is not dataclasses.MISSING else (False, None)
        for field in fields
    ]
    parameters = kind.__dataclass_params__
    generated = getattr(getattr(kind.__eq__, "__code__", None), "co_filename", "") == "<string>"
    return (
        kind.__name__,
        "dataclass",
        tuple(field.name for field in fields),
        defaults,
        [bool(field.kw_only) for field in fields],
        parameters.eq and generated,
        parameters.order,
        _why_no_dataclass(kind, fields),
    )


def _fields(kind):
    return sys.modules["dataclasses"].fields(kind)


def _why_no_tuple(kind):
    for base in kind.__mro__:
        if "_field_defaults" in vars(base):
            return ""
        if "__new__" in vars(base) or "__init__" in vars(base):
            return f"{kind.__name__} has a constructor of its own, which is not compiled"
    return ""


def _why_no_dataclass(kind, fields):
    import dataclasses

    name = kind.__name__
    if not kind.__dataclass_params__.init:
        return f"{name} has a constructor of its own, which is not compiled"
    if hasattr(kind, "__post_init__"):
        return f"{name} has a __post_init__, which is not compiled"
    for field in kind.__dataclass_fields__.values():
        if field in fields and (not field.init or field.default_factory is not dataclasses.MISSING):
            return f"field '{field.name}' of {name} gets its value by code, which is not compiled"
        if field not in fields and field._field_type is dataclasses._FIELD_INITVAR:
            return f"{name} has an InitVar, which is not compiled"
    return ""
