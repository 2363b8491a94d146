// Anything with the buffer protocol as an array, such as NumPy's arrays and scalars. What an exporter says is
// checked before a byte is read: that there is memory, as much as the shape says, and that elements lie in it
// one stride after another.
#include "convert/foreign_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/convert.h"
#include "core/shape.h"
#include "graph/foreign_memory.h"
#include "interop/interop.h"
#include "objects/objects.h"

namespace weft::python {

std::string type_name(PyObject* object) {
    const auto type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(object)));
    return nb::cast<std::string>(nb::str(type.attr("__name__")));
}

HeldBuffer::HeldBuffer(PyObject* object, int flags) {
    if (PyObject_GetBuffer(object, &view_, flags) != 0) throw_python_error();
}

HeldBuffer::~HeldBuffer() { PyBuffer_Release(&view_); }

std::shared_ptr<const HeldBuffer> HeldBuffer::of(PyObject* object, int flags) {
    return {new HeldBuffer(object, flags), [](const HeldBuffer* held) {
                if (!may_take_gil()) return;
                const GilAcquire acquire;
                delete held;
            }};
}

array share_buffer(const std::shared_ptr<const HeldBuffer>& buffer, DType dtype, const Dims& shape,
                   const Dims& strides) {
    const Py_buffer& view = buffer->view();
    return share(view.buf, dtype, shape, strides, view.readonly == 0,
                 [kept = buffer]() mutable { kept.reset(); });
}

namespace {

/// The element type that a buffer's format names, and whether its bytes are in the other order.
struct BufferFormat {
    DType dtype;
    bool swapped = false;
};

/// Elements of one code differ in size between native and standard formats.
std::optional<ScalarType> type_of_format(std::string_view code, Py_ssize_t itemsize) {
    struct Format {
        std::string_view code;
        Py_ssize_t itemsize;
        ScalarType type;
    };
    static constexpr Format kFormats[] = {
        {"d", 8, ScalarType::kFloat64},    {"l", 8, ScalarType::kInt64},       {"f", 4, ScalarType::kFloat32},
        {"i", 4, ScalarType::kInt32},      {"?", 1, ScalarType::kBool},        {"b", 1, ScalarType::kInt8},
        {"B", 1, ScalarType::kUInt8},      {"h", 2, ScalarType::kInt16},       {"H", 2, ScalarType::kUInt16},
        {"I", 4, ScalarType::kUInt32},     {"l", 4, ScalarType::kInt32},       {"L", 4, ScalarType::kUInt32},
        {"L", 8, ScalarType::kUInt64},     {"q", 8, ScalarType::kInt64},       {"Q", 8, ScalarType::kUInt64},
        {"n", 8, ScalarType::kInt64},      {"N", 8, ScalarType::kUInt64},      {"e", 2, ScalarType::kFloat16},
        {"Zf", 8, ScalarType::kComplex64}, {"Zd", 16, ScalarType::kComplex128}};
    for (const Format& each : kFormats) {
        if (each.itemsize == itemsize && each.code == code) return each.type;
    }
    return std::nullopt;
}

std::optional<BufferFormat> parse_format(const char* format, Py_ssize_t itemsize) {
    std::string_view text = format == nullptr ? "B" : format;
    bool swapped = false;
    if (!text.empty() && std::strchr("@=<>!^", text[0]) != nullptr) {
        swapped = (text[0] == '>' || text[0] == '!') && itemsize > 1;
        text.remove_prefix(1);
    }
    const std::optional<ScalarType> type = type_of_format(text, itemsize);
    if (!type) return std::nullopt;
    return BufferFormat{*type, swapped};
}

}  // namespace

std::optional<DType> native_format(const char* format, Py_ssize_t itemsize) {
    if (format != nullptr && format[0] == 'd' && format[1] == 0 && itemsize == 8) return ScalarType::kFloat64;
    if (format != nullptr && format[0] == 'l' && format[1] == 0 && itemsize == 8) return ScalarType::kInt64;
    const std::optional<BufferFormat> found = parse_format(format, itemsize);
    if (!found || found->swapped) return std::nullopt;
    return found->dtype;
}

namespace {

struct Layout {
    Dims shape, strides;
};

/// Where a buffer's elements lie. What exporters may leave out is filled in as NumPy does.
Layout layout_of(const Py_buffer& view) {
    if (view.ndim < 0 || view.ndim > kMaxDimensions)
        throw ValueError("maximum supported dimension for an ndarray is currently " +
                         std::to_string(kMaxDimensions) + ", found " + std::to_string(view.ndim));
    const auto rank = static_cast<size_t>(view.ndim);
    if (view.suboffsets != nullptr &&
        std::any_of(view.suboffsets, view.suboffsets + rank, [](Py_ssize_t offset) { return offset >= 0; }))
        throw BufferError("weft has no arrays of elements that lie behind pointers, as suboffsets say");
    Layout layout;
    if (view.shape != nullptr) {
        for (size_t d = 0; d < rank; ++d) layout.shape.push_back(view.shape[d]);
    } else if (rank == 1) {
        layout.shape.push_back(view.len / view.itemsize);
    } else if (rank > 1) {
        throw ValueError("the buffer has " + std::to_string(rank) + " dimensions and no shape");
    }
    if (view.strides != nullptr) {
        for (size_t d = 0; d < rank; ++d) layout.strides.push_back(view.strides[d]);
    }
    check_memory("the buffer", reinterpret_cast<uint64_t>(view.buf), layout.shape, layout.strides,
                 view.itemsize);
    if (element_count(layout.shape) * view.itemsize > view.len)
        throw ValueError("the buffer has " + std::to_string(view.len) + " bytes, fewer than its shape " +
                         shape_text(layout.shape) + " says");
    if (view.strides == nullptr) layout.strides = c_strides(layout.shape, view.itemsize);
    return layout;
}

/// Axes from the largest stride to the smallest: the order in which the elements lie in memory.
std::vector<int64_t> memory_order(const Dims& strides) {
    std::vector<int64_t> axes(strides.size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
    std::sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) {
        const int64_t left = std::abs(strides[static_cast<size_t>(a)]);
        const int64_t right = std::abs(strides[static_cast<size_t>(b)]);
        return left != right ? left > right : a < b;
    });
    return axes;
}

void swap_bytes(char* data, size_t count, DType dtype) {
    const auto unit = static_cast<size_t>(dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize());
    const size_t units = count * static_cast<size_t>(dtype.itemsize()) / unit;
    for (size_t i = 0; i < units; ++i) std::reverse(data + i * unit, data + (i + 1) * unit);
}

/// Copies in C order; `strides` may be any.
void gather(const char* data, const Dims& shape, const Dims& strides, size_t axis, size_t itemsize,
            char*& target) {
    if (axis == shape.size()) {
        std::memcpy(target, data, itemsize);
        target += itemsize;
        return;
    }
    for (int64_t i = 0; i < shape[axis]; ++i)
        gather(data + i * strides[axis], shape, strides, axis + 1, itemsize, target);
}

array copy_keeping_order(const char* data, DType dtype, const Dims& shape, const Dims& strides) {
    const std::vector<int64_t> axes = memory_order(strides);
    if (std::is_sorted(axes.begin(), axes.end())) return copy_in(data, dtype, shape, strides);
    Dims permuted_shape(shape.size()), permuted_strides(shape.size());
    std::vector<int64_t> inverse(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<size_t>(axes[i]);
        permuted_shape[i] = shape[axis];
        permuted_strides[i] = strides[axis];
        inverse[axis] = static_cast<int64_t>(i);
    }
    array copied = copy_in(data, dtype, permuted_shape, permuted_strides);
    const array permuted = transpose(copied, inverse);
    copied.set_layout(permuted.shape(), permuted.strides());
    return copied;
}

}  // namespace

bool is_host_array(PyObject* object) { return PyType_IsSubtype(Py_TYPE(object), registry.host_memory) != 0; }

bool lends_memory(PyObject* object) { return PyObject_CheckBuffer(object) && !is_host_array(object); }

bool has_foreign_buffer(PyObject* object) {
    return lends_memory(object) && !PyBytes_Check(object) && !is_array(object) && !is_scalar(object);
}

namespace {

/// NumPy's array of a dtype that the buffer protocol has no format for, as one of integers; null for others.
nb::object as_integers(PyObject* object) {
    const nb::object dtype = nb::getattr(nb::handle(object), "dtype", nb::none());
    if (dtype.is_none() || is_dtype(dtype.ptr())) return {};
    try {
        if (!(to_dtype_required(dtype) == ScalarType::kBFloat16)) return {};
    } catch (const TypeError&) {
        return {};
    }
    return nb::module_::import_("numpy").attr("asarray")(nb::handle(object)).attr("view")("uint16");
}

/// Whether an object has a dtype of NumPy's whose kind is one of these.
bool has_kind(PyObject* object, std::string_view kinds) {
    const nb::object dtype = nb::getattr(nb::handle(object), "dtype", nb::none());
    if (dtype.is_none() || is_dtype(dtype.ptr())) return false;
    const nb::object kind = nb::getattr(dtype, "kind", nb::none());
    return nb::isinstance<nb::str>(kind) && kinds.find(text_of(kind)) != std::string_view::npos;
}

/// NumPy's dates and durations show themselves as bytes, which say nothing of what they are, or not at all;
/// its strings of any length have no buffers.
[[noreturn]] void refuse_kind(PyObject* object) {
    throw TypeError("weft has no arrays of '" + type_name(object) + "' objects");
}

}  // namespace

array convert_buffer(PyObject* object, bool share_memory) {
    std::shared_ptr<const HeldBuffer> buffer;
    try {
        buffer = HeldBuffer::of(object, PyBUF_STRIDED_RO | PyBUF_FORMAT);
    } catch (const nb::python_error&) {
        const nb::object integers = as_integers(object);
        if (integers.is_valid())
            return view(convert_buffer(integers.ptr(), share_memory), DType(ScalarType::kBFloat16));
        // CuPy's and JAX's arrays have buffers, but not where their memory is a GPU's.
        const nb::object interface = cuda_interface_of(object);
        if (interface.is_none() && has_kind(object, "MmT")) refuse_kind(object);
        if (interface.is_none()) throw;
        const array shared = share_cuda_interface(object, interface);
        return share_memory ? shared : copy(shared);
    }
    const Py_buffer& view = buffer->view();
    if (view.itemsize == 1 && view.ndim == 1 && view.len == 8 && has_kind(object, "Mm")) refuse_kind(object);
    const std::optional<BufferFormat> format = parse_format(view.format, view.itemsize);
    if (!format)
        throw TypeError("weft has no arrays of '" + type_name(object) + "' with elements of format '" +
                        std::string(view.format == nullptr ? "" : view.format) + "' and " +
                        std::to_string(view.itemsize) + " bytes");
    const Layout layout = layout_of(view);
    const auto* data = static_cast<const char*>(view.buf);
    if (format->swapped) {
        if (share_memory) throw ValueError("Unable to avoid copy: the bytes are in another order");
        const auto count = static_cast<size_t>(element_count(layout.shape));
        std::vector<char> bytes(count * static_cast<size_t>(view.itemsize) + 1);
        char* target = bytes.data();
        if (count != 0)  // without elements there may be no address
            gather(data, layout.shape, layout.strides, 0, static_cast<size_t>(view.itemsize), target);
        swap_bytes(bytes.data(), count, format->dtype);
        return copy_in(bytes.data(), format->dtype, layout.shape, c_strides(layout.shape, view.itemsize));
    }
    if (!share_memory) return copy_keeping_order(data, format->dtype, layout.shape, layout.strides);
    return share_buffer(buffer, format->dtype, layout.shape, layout.strides);
}

}  // namespace weft::python
