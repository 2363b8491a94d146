// From Python objects straight to the engine's fast path (api/fast/fast_call.h): operands are not copied,
// results are made in place.
#include "api/fast/fast_call.h"
#include "graph/operand.h"

#include <algorithm>
#include <cstring>

#include "api/elementwise/call.h"
#include "api/indexing/fast_index.h"
#include "api/recording/record_fast.h"
#include "convert/convert.h"
#include "core/float_errors.h"
#include "fast/fast_call.h"
#include "graph/placement.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

constexpr size_t kMost = 3;

bool convert_number(PyObject* object, GivenOperand& operand) {
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
        if (const std::optional<array> lazy = lazy_of(object); lazy && !evaluated(*lazy)) return false;
        operand.set_number(scalar->dtype, scalar_bytes(object));
        return true;
    }
    if (PyBool_Check(object)) {
        operand.set(ScalarType::kBool, object == Py_True);
        return true;
    }
    return false;
}

bool convert_operand(PyObject* object, GivenOperand& operand) {
    if (is_plain_array(object)) {
        operand.set(array_of(object));
        return true;
    }
    return convert_number(object, operand);
}

/// A number that is stored in elements of `dtype` as it is, with no error or warning that Python's types
/// would give.
bool convert_element(PyObject* object, DType dtype, GivenOperand& operand) {
    if (PyFloat_CheckExact(object) && !dtype.is_inexact()) return false;
    if (float_errors_watched()) return false;
    if (!convert_number(object, operand)) return false;
    if (operand.type.weak == WeakKind::kNone && !PyBool_Check(object) && !(operand.type.dtype == dtype))
        return false;
    return operand.convert(dtype);
}

/// Whether GivenOperand is the same for the object as for the argument that it makes. Scalars make arrays.
bool is_given_alike(PyObject* object) {
    return is_plain_array(object) || PyFloat_CheckExact(object) || PyLong_CheckExact(object) ||
           PyBool_Check(object);
}

}  // namespace

PyObject* try_run(const OpInfo& op, PyObject* const* objects, size_t count) {
    if (count > kMost || float_errors_watched()) return nullptr;
    GivenOperand operands[kMost];
    bool numbers = true;
    for (size_t k = 0; k < count; ++k) {
        if (!convert_operand(objects[k], operands[k])) return nullptr;
        numbers &= operands[k].value == nullptr;
    }
    const std::span<GivenOperand> inputs(operands, count);
    if (numbers) {
        NumberCall number_call;
        if (!number_call.prepare(op, inputs)) return nullptr;
        if (number_call.dtype().is_bool()) {
            bool truth = false;
            number_call.run(&truth);
            return wrap_scalar(number_call.dtype(), &truth).release().ptr();
        }
        PyObject* scalar = make_scalar(number_call.dtype());
        number_call.run(reinterpret_cast<ScalarObject*>(scalar)->bytes);
        return scalar;
    }
    nb::object object = wrap(array());  // which the result is made in
    array& result = array_of(object.ptr());
    if (!record_call(op, inputs, result) && !try_call(op, inputs, result)) return nullptr;
    return object.release().ptr();
}

bool try_run_into(const OpInfo& op, PyObject* const* objects, size_t count, const array& target) {
    if (count > kMost || float_errors_watched()) return false;
    GivenOperand operands[kMost];
    for (size_t k = 0; k < count; ++k) {
        if (!convert_operand(objects[k], operands[k])) return false;
    }
    return try_call_into(op, {operands, count}, target);
}

array call_refused(const OpInfo& op, PyObject* const* objects, std::span<const Argument> inputs,
                   const CallOptions& options) {
    const std::span<PyObject* const> given(objects, inputs.size());
    const bool were_asked = given.size() <= kMost && !float_errors_watched() &&
                            std::ranges::any_of(given, is_plain_array) &&
                            std::ranges::all_of(given, is_given_alike);
    const ReleaseGil release(
        std::ranges::any_of(inputs, [](const Argument& input) { return is_large(input); }));
    std::vector<array> results = were_asked ? call_general(op, inputs, options) : call(op, inputs, options);
    return std::move(results[0]);
}

PyObject* read_element_object(const array& from, int64_t offset) {
    if (from.dtype().is_bool()) {
        char truth = 0;  // any byte may stand for true
        if (!try_read(from, offset, &truth))
            read_scalar(from.with_view(from.dtype(), {}, {}, offset), &truth);
        return wrap_scalar(from.dtype(), &truth).release().ptr();
    }
    nb::object scalar = nb::steal(make_scalar(from.dtype()));
    auto* object = reinterpret_cast<ScalarObject*>(scalar.ptr());
    char* bytes = object->bytes;
    if (DeviceBackend& device = device_of(from); !device.is_cpu()) object->device = &device;
    if (!try_read(from, offset, bytes)) read_scalar(from.with_view(from.dtype(), {}, {}, offset), bytes);
    return scalar.release().ptr();
}

bool write_element_object(const array& to, int64_t offset, PyObject* value) {
    GivenOperand number;
    return convert_element(value, to.dtype(), number) && try_write(to, offset, number.number);
}

PyObject* number_as_scalar(PyObject* value, DType dtype) {
    GivenOperand number;
    if (!convert_element(value, dtype, number)) return nullptr;
    return wrap_scalar(dtype, number.number).release().ptr();
}

bool assign_object(const array& target, PyObject* value) {
    if (float_errors_watched()) return false;
    GivenOperand operand;
    if (is_array(value)) {
        operand.set(array_of(value));
    } else if (!convert_element(value, target.dtype(), operand)) {
        return false;
    }
    return try_assign(target, operand);
}

bool try_assign(const array& target, const array& index, PyObject* value) {
    if (float_errors_watched()) return false;
    GivenOperand operand;
    if (is_array(value)) {
        operand.set(array_of(value));
    } else if (!convert_element(value, target.dtype(), operand)) {
        return false;
    }
    return try_scatter(target, index, operand);
}

}  // namespace weft::python
