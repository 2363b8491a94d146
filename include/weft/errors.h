// The exceptions that weft throws. Each says in its type which Python exception it becomes, so that an error
// is NumPy's error; the bindings translate by `kind()`. Three families: the user's (NumPy's types), the
// machine's (DeviceError, OutOfMemoryError) and weft's own (InternalError).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace weft {

/// Which Python exception an error becomes.
enum class ErrorKind : uint8_t {
    kTypeError,
    kUFuncTypeError,  // a subclass of TypeError in Python, as in NumPy
    kValueError,
    kIndexError,
    kAxisError,  // both a ValueError and an IndexError in Python, as in NumPy
    kOverflowError,
    kZeroDivisionError,
    kAttributeError,
    kBufferError,
    kNotImplementedError,
    kRuntimeError,
    kLinAlgError,
    kOutOfMemoryError,  // a MemoryError in Python
    kDeviceError,
    kInternalError,
};

/// The base of all errors of weft.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    ErrorKind kind() const { return kind_; }

private:
    ErrorKind kind_;
};

/// An error of one kind; `Base` is what a C++ caller may catch it as, beside itself.
template <ErrorKind kind, typename Base = Error>
class ErrorOf : public Base {
public:
    explicit ErrorOf(const std::string& message) : Base(kind, message) {}

protected:
    ErrorOf(ErrorKind actual, const std::string& message) : Base(actual, message) {}
};

using TypeError = ErrorOf<ErrorKind::kTypeError>;
using UFuncTypeError = ErrorOf<ErrorKind::kUFuncTypeError, TypeError>;
using ValueError = ErrorOf<ErrorKind::kValueError>;
using AxisError = ErrorOf<ErrorKind::kAxisError, ValueError>;
using IndexError = ErrorOf<ErrorKind::kIndexError>;
using OverflowError = ErrorOf<ErrorKind::kOverflowError>;
using ZeroDivisionError = ErrorOf<ErrorKind::kZeroDivisionError>;
using AttributeError = ErrorOf<ErrorKind::kAttributeError>;
using BufferError = ErrorOf<ErrorKind::kBufferError>;
using NotImplementedError = ErrorOf<ErrorKind::kNotImplementedError>;
using RuntimeError = ErrorOf<ErrorKind::kRuntimeError>;
using LinAlgError = ErrorOf<ErrorKind::kLinAlgError, ValueError>;
using OutOfMemoryError = ErrorOf<ErrorKind::kOutOfMemoryError>;
using DeviceError = ErrorOf<ErrorKind::kDeviceError>;
using InternalError = ErrorOf<ErrorKind::kInternalError>;

/// NumPy's AxisError for `axis` in an array of `ndim` dimensions.
[[noreturn]] void throw_axis_error(int64_t axis, int64_t ndim);

/// An error of weft itself, with the place it was found at and how to report it.
[[noreturn]] void throw_internal_error(const char* file, int line, const std::string& message);

}  // namespace weft

/// Checks an invariant of weft in every build; the message should hold what is needed to find the fault.
#define WEFT_CHECK(condition, message)                                                                  \
    do {                                                                                                \
        if (!(condition)) [[unlikely]]                                                                  \
            ::weft::throw_internal_error(__FILE__, __LINE__, std::string(#condition ": ") + (message)); \
    } while (false)
