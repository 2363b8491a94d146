// The operators of ndarray and of the scalars: type slots that go straight to the op table.
#include <cstring>

#include "api/fast/fast_call.h"
#include "api/fast/power_shortcuts.h"
#include "convert/convert.h"
#include "core/float_errors.h"
#include "fast/fast_call.h"
#include "graph/operand.h"
#include "objects/objects.h"
#include "protocols/by_numpy.h"
#include "protocols/overrides.h"
#include "weft/products.h"

namespace weft::python {

namespace {

// In Python's order: Py_LT, Py_LE, Py_EQ, Py_NE, Py_GT, Py_GE.
constexpr OpId kComparisons[] = {OpId::kLess,     OpId::kLessEqual, OpId::kEqual,
                                 OpId::kNotEqual, OpId::kGreater,   OpId::kGreaterEqual};

nb::object run(OpId id, PyObject* operand) {
    if (PyObject* result = try_run(op_info(id), &operand, 1)) return nb::steal(result);
    const Argument input = to_argument(nb::handle(operand));
    return wrap_result(call_refused(op_info(id), &operand, {&input, 1}));
}

/// An operator of two operands of which one has an override.
PyObject* operate(nb::handle ufunc, PyObject* left, PyObject* right) {
    return override_function("binary")(ufunc, nb::handle(left), nb::handle(right)).release().ptr();
}
PyObject* operate_in_place(nb::handle ufunc, PyObject* target, PyObject* other) {
    return override_function("in_place")(ufunc, nb::handle(target), nb::handle(other)).release().ptr();
}

/// Whether an operation on these is one on scalars (`right` is null for those of one operand).
bool are_numbers(PyObject* left, PyObject* right) {
    const auto is_number = [](PyObject* object) {
        return is_scalar(object) || PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
    };
    return float_errors_watched() && is_number(left) && (right == nullptr || is_number(right));
}

/// The loop of an operation on operands of one type, if there is one that takes them as they are.
StridedLoop uniform_loop(const OpInfo& info, ScalarType type, DType& result) {
    const ScalarType types[] = {type, type};
    const LoopInfo* loop =
        info.nout == 1 && info.nin <= 2 ? find_loop(info, std::span(types).first(info.nin)) : nullptr;
    if (loop == nullptr || (info.flags.checks_negative_exponent && DType(type).is_signed_integer()))
        return nullptr;
    result = loop->types[info.nin];
    return loop->loop;
}

/// The operators on scalars of float64 and int64, which most programs count with, have their loops ready.
struct ScalarLoops {
    struct Entry {
        StridedLoop loop = nullptr;
        DType result;
    };
    std::vector<Entry> reals, integers;  // by OpId

    ScalarLoops() {
        for (const OpInfo& info : op_table()) {
            Entry& real = reals.emplace_back();
            real.loop = uniform_loop(info, ScalarType::kFloat64, real.result);
            Entry& integer = integers.emplace_back();
            integer.loop = uniform_loop(info, ScalarType::kInt64, integer.result);
        }
    }
};

const ScalarLoops& scalar_loops() {
    static const ScalarLoops loops;
    return loops;
}

bool is_of(ScalarType type, PyObject* object) {
    return Py_TYPE(object) == registry.scalar_types[static_cast<size_t>(type)];
}

/// A scalar of T whose value is known, or a Python number that it takes as T.
template <typename T>
bool read_known(PyObject* object, T& value) {
    constexpr bool is_real = std::is_same_v<T, double>;
    constexpr ScalarType type = is_real ? ScalarType::kFloat64 : ScalarType::kInt64;
    if (is_of(type, object)) {
        const auto* scalar = reinterpret_cast<ScalarObject*>(object);
        if (scalar->lazy.load(std::memory_order_acquire) != nullptr) return false;
        std::memcpy(&value, scalar->bytes, sizeof value);
        return true;
    }
    if (is_real && PyFloat_CheckExact(object)) {
        value = static_cast<T>(PyFloat_AsDouble(object));
        return true;
    }
    if (!PyLong_CheckExact(object)) return false;
    int overflow = 0;
    value = static_cast<T>(PyLong_AsLongLongAndOverflow(object, &overflow));
    return overflow == 0;
}

template <typename T>
PyObject* run_known(const ScalarLoops::Entry& entry, PyObject* left, PyObject* right) {
    T a{}, b{};
    if (entry.loop == nullptr || !read_known(left, a)) return nullptr;
    if (right != nullptr && !read_known(right, b)) return nullptr;
    alignas(16) char bytes[16];
    char* data[3] = {reinterpret_cast<char*>(&a), reinterpret_cast<char*>(&b), bytes};
    if (right == nullptr) data[1] = bytes;
    constexpr int64_t strides[3] = {};
    entry.loop(data, strides, 1);
    return wrap_scalar(entry.result, bytes).release().ptr();
}

/// An operator (`right` is null for those of one operand) on such scalars, or one of them and a Python
/// number.
PyObject* run_on_scalars(OpId id, PyObject* left, PyObject* right) {
    if (float_errors_watched()) return nullptr;
    const auto one_is = [&](ScalarType type) {
        return is_of(type, left) || (right != nullptr && is_of(type, right));
    };
    if (one_is(ScalarType::kFloat64))
        return run_known<double>(scalar_loops().reals[static_cast<size_t>(id)], left, right);
    if (one_is(ScalarType::kInt64))
        return run_known<int64_t>(scalar_loops().integers[static_cast<size_t>(id)], left, right);
    return nullptr;
}

template <typename T>
bool holds(int comparison, T left, T right) {
    switch (comparison) {
        case Py_LT: return left < right;
        case Py_LE: return left <= right;
        case Py_EQ: return left == right;
        case Py_NE: return left != right;
        case Py_GT: return left > right;
        default: return left >= right;
    }
}

/// A comparison of such scalars, whose result is one of two objects that exist.
PyObject* compare_scalars(int comparison, PyObject* left, PyObject* right) {
    if (float_errors_watched()) return nullptr;
    bool result = false;
    if (double a = 0, b = 0; is_of(ScalarType::kFloat64, left) || is_of(ScalarType::kFloat64, right)) {
        if (!read_known(left, a) || !read_known(right, b)) return nullptr;
        result = holds(comparison, a, b);
    } else if (int64_t c = 0, d = 0; is_of(ScalarType::kInt64, left) || is_of(ScalarType::kInt64, right)) {
        if (!read_known(left, c) || !read_known(right, d)) return nullptr;
        result = holds(comparison, c, d);
    } else {
        return nullptr;
    }
    PyObject* const truth = registry.truths[result ? 1 : 0];
    Py_INCREF(truth);
    return truth;
}

/// An operator of an array and an object that weft has no dtype for: objects, dates, long doubles. NumPy
/// computes it, unless the other operand says that its own method comes first.
PyObject* by_numpy_or_not_implemented(OpId id, PyObject* left, PyObject* right) {
    PyObject* const other = is_array(left) ? right : left;
    if (!is_array(left) && !is_array(right))
        return override_function("with_number")(ufunc_of(id), nb::handle(left), nb::handle(right))
            .release()
            .ptr();
    if (other == Py_None || PyUnicode_Check(other) || PyBytes_Check(other) ||
        PyObject_HasAttrString(other, "__array_priority__") != 0)
        return not_implemented();
    PyErr_SetNone(PyExc_TypeError);
    PyObject* const objects[] = {left, right};
    PyObject* const result = numpy_instead(FailedCall::kUfunc, op_info(id).name, objects, 2, nullptr);
    if (result != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return result;
    PyErr_Clear();
    return not_implemented();
}

/// The result, or after an error what NumPy makes of the operands: long doubles and the like.
PyObject* or_numpys(PyObject* result, OpId id, PyObject* left, PyObject* right) {
    if (result != nullptr || !numpy_may_answer()) return result;
    PyObject* const objects[] = {left, right};
    return numpy_instead(FailedCall::kUfunc, op_info(id).name, objects, 2, nullptr);
}

template <OpId id>
PyObject* own_binary(PyObject* left, PyObject* right) {
    return guarded([&]() -> PyObject* {
        if (PyObject* result = run_on_scalars(id, left, right)) return result;
        PyObject* const objects[] = {left, right};
        if (PyObject* result = try_run(op_info(id), objects, 2)) return result;
        if (has_override(left) || has_override(right)) return operate(ufunc_of(id), left, right);
        Argument inputs[2];
        if (!to_argument(left, inputs[0]) || !to_argument(right, inputs[1]))
            return by_numpy_or_not_implemented(id, left, right);
        const ScalarOperation names(are_numbers(left, right));
        return wrap_result(call_refused(op_info(id), objects, inputs)).release().ptr();
    });
}

template <OpId id>
PyObject* binary(PyObject* left, PyObject* right) {
    return or_numpys(own_binary<id>(left, right), id, left, right);
}

template <OpId id>
PyObject* unary(PyObject* operand) {
    return guarded([&] {
        if (PyObject* result = run_on_scalars(id, operand, nullptr)) return result;
        if (has_override(operand)) return ufunc_of(id)(nb::handle(operand)).release().ptr();
        const ScalarOperation names(are_numbers(operand, nullptr));
        return run(id, operand).release().ptr();
    });
}

PyObject* divmod(PyObject* left, PyObject* right) {
    return guarded([&]() -> PyObject* {
        if (has_override(left) || has_override(right)) return operate(ufunc_of(OpId::kDivmod), left, right);
        Argument inputs[2];
        if (!to_argument(left, inputs[0]) || !to_argument(right, inputs[1])) return not_implemented();
        const ScalarOperation names(are_numbers(left, right));
        std::vector<array> results = call(op_info(OpId::kDivmod), inputs);
        return nb::make_tuple(wrap_result(std::move(results.at(0))), wrap_result(std::move(results.at(1))))
            .release()
            .ptr();
    });
}

/// The operation that stands for base ** exponent, if one does: only for arrays and Python's own numbers.
std::optional<OpId> strength_reduced_power(PyObject* base, PyObject* exponent) {
    if (!is_array(base)) return std::nullopt;
    const DType dtype = array_of(base).dtype();
    if (PyFloat_CheckExact(exponent)) return operation_of_operator(dtype, PyFloat_AsDouble(exponent), false);
    int64_t integer = 0;
    if (!plain_integer(exponent, integer)) return std::nullopt;
    return operation_of_operator(dtype, static_cast<double>(integer), true);
}

PyObject* power(PyObject* left, PyObject* right, PyObject* modulus) {
    return guarded([&]() -> PyObject* {
        if (modulus != Py_None) return not_implemented();
        if (const std::optional<OpId> shorter = strength_reduced_power(left, right))
            return is_plain_array(left) ? run(*shorter, left).release().ptr()
                                        : ufunc_of(*shorter)(nb::handle(left)).release().ptr();
        return binary<OpId::kPower>(left, right);
    });
}

/// As to_argument, but an array; false where the other operand's reflected method has its turn.
bool to_product_operand(PyObject* object, array& operand) {
    if (is_array(object)) {
        operand = array_of(object);
        return true;
    }
    Argument argument;
    if (!to_argument(object, argument)) return false;
    operand = from_argument(argument);
    return true;
}

template <class... Options>
array multiply_matrices(const array& left, const array& right, const Options&... options) {
    if (!is_large(left) && !is_large(right)) return matmul(left, right, options...);
    const array a = left, b = right;  // others may change the objects meanwhile
    const GilRelease release;
    return matmul(a, b, options...);
}

PyObject* matrix_multiply(PyObject* left, PyObject* right) {
    return guarded([&]() -> PyObject* {
        if (is_plain_array(left) && is_plain_array(right))
            return wrap_result(multiply_matrices(array_of(left), array_of(right))).release().ptr();
        if (has_override(left) || has_override(right)) return operate(registry.matmul, left, right);
        array a, b;
        if (!to_product_operand(left, a) || !to_product_operand(right, b)) return not_implemented();
        return wrap_result(multiply_matrices(a, b)).release().ptr();
    });
}

PyObject* matrix_multiply_in_place(PyObject* target, PyObject* other) {
    return guarded([&]() -> PyObject* {
        if (has_override(target) || has_override(other))
            return operate_in_place(registry.matmul, target, other);
        array right;
        if (!to_product_operand(other, right)) return not_implemented();
        ProductOptions options;
        options.out = array_of(target);
        if (options.out.ndim() == 0 || right.ndim() == 1) {
            throw ValueError(
                "inplace matrix multiplication requires the first operand to have at least one and the "
                "second at "
                "least two dimensions.");
        }
        multiply_matrices(options.out, right, options);
        Py_INCREF(target);
        return target;
    });
}

/// Whether scalars order complex numbers by themselves: not those of bool, and not what has to become a third
/// type.
bool orders_complex_numbers(PyObject* left, PyObject* right, int comparison) {
    if (comparison == Py_EQ || comparison == Py_NE) return false;
    if (is_scalar(left) && scalar_dtype(left).is_bool()) return false;
    bool any = false;
    for (PyObject* const object : {left, right}) {
        if (is_scalar(object)) {
            any = any || scalar_dtype(object).is_complex();
        } else if (!PyFloat_Check(object) && !PyLong_Check(object) && !PyComplex_Check(object)) {
            return false;
        }
    }
    return any;
}

/// NumPy's scalars look at imaginary parts only where the real ones are equal: a nan there makes its arrays'
/// loops say false.
PyObject* order_complex_numbers(PyObject* left_object, PyObject* right_object, OpId id) {
    Argument left, right;
    if (!to_argument(left_object, left) || !to_argument(right_object, right)) return not_implemented();
    // Python's numbers take the type of the scalar beside them.
    const DType first = scalar_dtype(is_scalar(left_object) ? left_object : right_object);
    const DType second = scalar_dtype(is_scalar(right_object) ? right_object : left_object);
    const DType dtype = promote_types(first, second);
    if (!(dtype == first) && !(dtype == second))
        return wrap_result(call_binary(op_info(id), left, right)).release().ptr();
    const array x = from_argument(left, dtype), y = from_argument(right, dtype);
    const bool is_less = id == OpId::kLess || id == OpId::kLessEqual;
    const auto both = [](OpId op, const array& a, const array& b) { return call_binary(op_info(op), a, b); };
    const array by_real = both(is_less ? OpId::kLess : OpId::kGreater, real(x), real(y));
    const array tied =
        both(OpId::kLogicalAnd, both(OpId::kEqual, real(x), real(y)), both(id, imag(x), imag(y)));
    return wrap_result(both(OpId::kLogicalOr, by_real, tied)).release().ptr();
}

PyObject* own_compare(PyObject* left, PyObject* right, int comparison) {
    return guarded([&]() -> PyObject* {
        if (PyObject* result = compare_scalars(comparison, left, right)) return result;
        if (is_host_array(right)) return not_implemented();  // its reflected method knows what it is
        if (orders_complex_numbers(left, right, comparison))
            return order_complex_numbers(left, right, kComparisons[comparison]);
        PyObject* const objects[] = {left, right};
        if (PyObject* result = try_run(op_info(kComparisons[comparison]), objects, 2)) return result;
        // A scalar compares as the array of it, and then a subclass of ndarray has the first word.
        if (is_scalar(left) && is_array(right) && !is_plain_array(right))
            return PyObject_RichCompare(wrap(copy(scalar_array(left))).ptr(), right, comparison);
        if (has_override(left) || has_override(right))
            return operate(ufunc_of(kComparisons[comparison]), left, right);
        Argument inputs[2];
        if (!to_argument(left, inputs[0])) return not_implemented();
        if (!to_argument(right, inputs[1])) {
            // NumPy compares with None, texts and the like element by element: nothing is equal to them.
            if (comparison != Py_EQ && comparison != Py_NE) return not_implemented();
            if (!is_array(left)) return not_implemented();
            return wrap(full(array_of(left).shape(), Argument(comparison == Py_NE), DType(ScalarType::kBool)))
                .release()
                .ptr();
        }
        return wrap_result(call_refused(op_info(kComparisons[comparison]), objects, inputs)).release().ptr();
    });
}

PyObject* compare(PyObject* left, PyObject* right, int comparison) {
    return or_numpys(own_compare(left, right, comparison), kComparisons[comparison], left, right);
}

template <OpId id>
PyObject* in_place(PyObject* target, PyObject* other) {
    return guarded([&]() -> PyObject* {
        PyObject* const objects[] = {target, other};
        if (try_run_into(op_info(id), objects, 2, array_of(target))) {
            Py_INCREF(target);
            return target;
        }
        if (has_override(target) || has_override(other)) return operate_in_place(ufunc_of(id), target, other);
        Argument inputs[2];
        if (!to_argument(other, inputs[1])) return not_implemented();
        const array view = array_of(target);
        inputs[0] = view;
        CallOptions options;
        options.out = {&view, 1};
        call_refused(op_info(id), objects, inputs, options);
        Py_INCREF(target);
        return target;
    });
}

PyObject* in_place_power(PyObject* target, PyObject* exponent, PyObject*) {
    return guarded([&]() -> PyObject* {
        const std::optional<OpId> shorter = strength_reduced_power(target, exponent);
        if (!shorter) return in_place<OpId::kPower>(target, exponent);
        if (!is_plain_array(target)) {
            const nb::handle result(target);
            return ufunc_of(*shorter)(result, nb::arg("out") = nb::make_tuple(result)).release().ptr();
        }
        const array view = array_of(target);
        const Argument input = view;
        CallOptions options;
        options.out = std::span(&view, 1);
        call(op_info(*shorter), std::span(&input, 1), options);
        Py_INCREF(target);
        return target;
    });
}

/// The value of an array of one element, of any number of dimensions (for bool) or of none.
nb::object only_element(PyObject* self, bool any_dimensions) {
    if (is_scalar(self)) return element_to_python(scalar_dtype(self), scalar_bytes(self));
    if (array_of(self).ndim() != 0 && !any_dimensions)
        throw TypeError("only 0-dimensional arrays can be converted to Python scalars");
    return python::only_element(array_of(self));
}

int truth(PyObject* self) {
    for (const int value : {0, 1}) {
        if (self == registry.truths[static_cast<size_t>(value)]) return value;
    }
    return guarded_number([&]() -> int {
        if (is_scalar(self)) {
            double real = 0;
            if (read_known(self, real)) return real != 0 ? 1 : 0;
            GivenOperand number;
            number.set_number(scalar_dtype(self), scalar_bytes(self));
            number.convert(ScalarType::kBool);
            return *static_cast<const bool*>(number.number);
        }
        if (is_array(self)) {
            const int64_t size = array_of(self).size();
            if (size == 0)
                throw ValueError(
                    "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an "
                    "array is "
                    "not empty.");
            if (size > 1)
                throw ValueError(
                    "The truth value of an array with more than one element is ambiguous. Use a.any() or "
                    "a.all()");
        }
        return PyObject_IsTrue(only_element(self, true).ptr());
    });
}

DType dtype_of(PyObject* self) { return is_scalar(self) ? scalar_dtype(self) : array_of(self).dtype(); }

/// A complex scalar becomes a real number with a warning, as in NumPy; other elements stay what they are.
nb::object real_element(PyObject* self) {
    nb::object element = only_element(self, false);
    if (!is_scalar(self) || !PyComplex_Check(element.ptr())) return element;
    warn_of_lost_imaginary_part(ScalarType::kComplex128, ScalarType::kFloat64);
    return nb::float_(PyComplex_RealAsDouble(element.ptr()));
}

PyObject* to_int(PyObject* self) {
    return guarded([&] {
        if (int64_t integer = 0; read_known(self, integer)) return PyLong_FromLongLong(integer);
        if (double real = 0; read_known(self, real)) return PyLong_FromDouble(real);
        const nb::object element = real_element(self);
        if (PyComplex_Check(element.ptr()))
            throw TypeError(
                "int() argument must be a string, a bytes-like object or a real number, not 'complex'");
        return steal_or_throw(PyNumber_Long(element.ptr())).release().ptr();
    });
}

PyObject* to_float(PyObject* self) {
    return guarded([&] {
        if (double real = 0; read_known(self, real)) return PyFloat_FromDouble(real);
        if (int64_t integer = 0; read_known(self, integer))
            return PyFloat_FromDouble(static_cast<double>(integer));
        const nb::object element = real_element(self);
        if (PyComplex_Check(element.ptr()))
            throw TypeError("float() argument must be a string or a real number, not 'complex'");
        return steal_or_throw(PyNumber_Float(element.ptr())).release().ptr();
    });
}

PyObject* to_number_index(PyObject* self) {
    return guarded([&] {
        if (!dtype_of(self).is_integer() || (is_array(self) && array_of(self).ndim() != 0)) {
            if (is_scalar(self)) {
                const nb::object name =
                    nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(self))).attr("__name__");
                throw TypeError("'numpy." + text_of(name) + "' object cannot be interpreted as an integer");
            }
            throw TypeError("only integer scalar arrays can be converted to a scalar index");
        }
        return only_element(self, false).release().ptr();
    });
}

/// An operator of two operands, and the slots of its two forms: `a + b` and `a += b`.
struct BinaryOperator {
    int slot, in_place_slot;
    binaryfunc function, in_place_function;
};
template <OpId id>
constexpr BinaryOperator binary_operator(int slot, int in_place_slot) {
    return {slot, in_place_slot, binary<id>, in_place<id>};
}
constexpr BinaryOperator kBinaryOperators[] = {
    binary_operator<OpId::kAdd>(Py_nb_add, Py_nb_inplace_add),
    binary_operator<OpId::kSubtract>(Py_nb_subtract, Py_nb_inplace_subtract),
    binary_operator<OpId::kMultiply>(Py_nb_multiply, Py_nb_inplace_multiply),
    binary_operator<OpId::kDivide>(Py_nb_true_divide, Py_nb_inplace_true_divide),
    binary_operator<OpId::kFloorDivide>(Py_nb_floor_divide, Py_nb_inplace_floor_divide),
    binary_operator<OpId::kRemainder>(Py_nb_remainder, Py_nb_inplace_remainder),
    binary_operator<OpId::kLeftShift>(Py_nb_lshift, Py_nb_inplace_lshift),
    binary_operator<OpId::kRightShift>(Py_nb_rshift, Py_nb_inplace_rshift),
    binary_operator<OpId::kBitwiseAnd>(Py_nb_and, Py_nb_inplace_and),
    binary_operator<OpId::kBitwiseOr>(Py_nb_or, Py_nb_inplace_or),
    binary_operator<OpId::kBitwiseXor>(Py_nb_xor, Py_nb_inplace_xor),
    {Py_nb_matrix_multiply, Py_nb_inplace_matrix_multiply, matrix_multiply, matrix_multiply_in_place},
};

template <typename Function>
void add_slot(std::vector<PyType_Slot>& slots, int slot, Function* function) {
    slots.push_back({slot, reinterpret_cast<void*>(function)});
}

}  // namespace

void add_operator_slots(std::vector<PyType_Slot>& slots) {
    for (const BinaryOperator& each : kBinaryOperators) add_slot(slots, each.slot, each.function);
    add_slot(slots, Py_nb_divmod, divmod);
    add_slot(slots, Py_nb_power, power);
    add_slot(slots, Py_nb_negative, unary<OpId::kNegative>);
    add_slot(slots, Py_nb_positive, unary<OpId::kPositive>);
    add_slot(slots, Py_nb_absolute, unary<OpId::kAbsolute>);
    add_slot(slots, Py_nb_invert, unary<OpId::kInvert>);
    add_slot(slots, Py_nb_bool, truth);
    add_slot(slots, Py_nb_int, to_int);
    add_slot(slots, Py_nb_float, to_float);
    add_slot(slots, Py_nb_index, to_number_index);
    add_slot(slots, Py_tp_richcompare, compare);
}

void add_in_place_slots(std::vector<PyType_Slot>& slots) {
    for (const BinaryOperator& each : kBinaryOperators)
        add_slot(slots, each.in_place_slot, each.in_place_function);
    add_slot(slots, Py_nb_inplace_power, in_place_power);
}

}  // namespace weft::python
