"""Numba's exceptions and warnings. What a compiled function refuses is one exception, by any of Numba's names."""

from weft.exceptions import CompileError

__all__ = (
    "ByteCodeSupportError CompilerError ConstantInferenceError ForbiddenConstruct ForceLiteralArg IRError "
    "InternalError LiteralTypingError LoweringError NotDefinedError NumbaAttributeError NumbaError "
    "NumbaIndexError NumbaKeyError NumbaNotImplementedError NumbaRuntimeError NumbaTypeError "
    "NumbaValueError RedefinedError RequireLiteralValue TypingError UnsupportedBytecodeError "
    "UnsupportedError UnsupportedParforsError UntypedAttributeError VerificationError "
).split()
globals().update(dict.fromkeys(__all__, CompileError))


class NumbaWarning(Warning):
    """What Numba's warnings are."""


class NumbaPerformanceWarning(NumbaWarning):
    """Something is slower than it could be."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Something will go away."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Something will be deprecated."""


class NumbaParallelSafetyWarning(NumbaWarning):
    """An operation in a prange may be unsafe."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """A conversion may lose something."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Something may change."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """A setting is wrong."""


class NumbaPedanticWarning(NumbaWarning):
    """Something is unusual."""


class NumbaIRAssumptionWarning(NumbaPedanticWarning):
    """Something is assumed of the representation."""


class NumbaDebugInfoWarning(NumbaWarning):
    """Something is wrong with debug information."""


class NumbaSystemWarning(NumbaWarning):
    """Something is wrong with the system."""


__all__ += [name for name in globals() if name.endswith("Warning") and name != "Warning"]
