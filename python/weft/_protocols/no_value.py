"""The default of parameters that tells "not given" from every value: NumPy's `_NoValue`."""


class _NoValueType:
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self):
        return "<no value>"

    def __reduce__(self):
        return (_NoValueType, ())


NO_VALUE = _NoValueType()
