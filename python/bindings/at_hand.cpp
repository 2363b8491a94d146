// From Python objects straight to the engine's shortest way (graph/at_hand.h): operands are not copied,
// results are made in place.
#include "graph/at_hand.h"

#include <cstring>

#include "bindings.h"

namespace weft::python {

namespace {

constexpr size_t kMost = 3;

bool give_number(PyObject* object, GivenOperand& operand) {
    if (PyFloat_CheckExact(object)) {
        operand.set(WeakKind::kFloat, PyFloat_AsDouble(object));
        return true;
    }
    if (PyLong_CheckExact(object)) {
        int overflow = 0;
        const int64_t integer = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow != 0) return false;
        operand.set(WeakKind::kInt, integer);
        return true;
    }
    if (is_scalar(object)) {
        const auto* scalar = reinterpret_cast<ScalarObject*>(object);
        if (scalar->lazy != nullptr && !evaluated(*scalar->lazy)) return false;
        operand.value = nullptr;
        operand.type = scalar->dtype;
        std::memcpy(operand.bytes.data(), scalar_bytes(object), sizeof operand.bytes);
        return true;
    }
    if (PyBool_Check(object)) {
        operand.set(ScalarType::kBool, object == Py_True);
        return true;
    }
    return false;
}

bool give(PyObject* object, GivenOperand& operand) {
    if (is_array(object)) {
        operand.set(array_of(object));
        return true;
    }
    return give_number(object, operand);
}

/// A number that is stored in elements of `dtype` as it is, with no error or warning that Python's types
/// would give.
bool give_element(PyObject* object, DType dtype, GivenOperand& operand) {
    if (PyFloat_CheckExact(object) && !dtype.is_inexact()) return false;
    if (!give_number(object, operand)) return false;
    if (operand.type.weak == WeakKind::kNone && !PyBool_Check(object) && !(operand.type.dtype == dtype))
        return false;
    return convert_number(operand, dtype);
}

}  // namespace

PyObject* run_at_hand(const OpInfo& op, PyObject* const* objects, size_t count) {
    if (count > kMost) return nullptr;
    GivenOperand operands[kMost];
    bool numbers = true;
    for (size_t k = 0; k < count; ++k) {
        if (!give(objects[k], operands[k])) return nullptr;
        numbers &= operands[k].value == nullptr;
    }
    const std::span<GivenOperand> inputs(operands, count);
    if (numbers) {
        DType dtype;
        alignas(16) ScalarBytes element;
        if (!compute_numbers(op, inputs, dtype, element)) return nullptr;
        return wrap_scalar(dtype, element.data()).release().ptr();
    }
    array result;
    if (!call_at_hand(op, inputs, result)) return nullptr;
    return wrap(std::move(result)).release().ptr();
}

bool run_into_at_hand(const OpInfo& op, PyObject* const* objects, size_t count, const array& target) {
    if (count > kMost) return false;
    GivenOperand operands[kMost];
    for (size_t k = 0; k < count; ++k) {
        if (!give(objects[k], operands[k])) return false;
    }
    return call_into_at_hand(op, {operands, count}, target);
}

PyObject* read_element_object(const array& from, int64_t offset) {
    PyObject* scalar = make_scalar(from.dtype());
    auto* object = reinterpret_cast<ScalarObject*>(scalar);
    char* bytes = object->bytes;
    if (!read_at_hand(from, offset, bytes)) {
        const nb::object owner = nb::steal(scalar);
        const array element = from.with_view(from.dtype(), {}, {}, offset);
        read_scalar(element, bytes);
        normalize_bool(object);
        return nb::object(owner).release().ptr();
    }
    normalize_bool(object);
    return scalar;
}

bool write_element_object(const array& to, int64_t offset, PyObject* value) {
    GivenOperand number;
    return give_element(value, to.dtype(), number) && write_at_hand(to, offset, number.bytes.data());
}

bool assign_object(const array& target, PyObject* value) {
    GivenOperand operand;
    if (is_array(value)) {
        operand.set(array_of(value));
    } else if (!give_element(value, target.dtype(), operand)) {
        return false;
    }
    return assign_at_hand(target, operand);
}

}  // namespace weft::python
