// What C++ programs do with single arrays: write through a view that was just made, read an element, show
// memory as a span and make arrays of their own (weft/indexing.h, weft/memory.h, weft/creation.h).
#include "core/shape.h"
#include "ops/resolve.h"
#include "weft/weft.h"

namespace weft {

void array::operator=(const Argument& value) && { assign(*this, value); }

// ---- one element ----

namespace {

// Whether the only element, an integer, is among those of `wanted`.
bool fits(const array& input, std::span<const int64_t> position, DType wanted) {
    uint64_t bits = 0;
    const bool is_signed = input.dtype().is_signed_integer();
    read_element(astype(input, is_signed ? ScalarType::kInt64 : ScalarType::kUInt64), position, &bits);
    return python_int_fits(is_signed ? WideInteger(static_cast<int64_t>(bits)) : WideInteger(bits), wanted);
}

}  // namespace

void read_item(const array& input, DType dtype, void* bytes) {
    if (input.size() != 1) throw ValueError("can only convert an array of size 1 to a scalar");
    if (!can_cast(input.dtype(), dtype, Casting::kSameKind)) {
        throw TypeError("an element of " + std::string(input.dtype().name()) + " is not read as " +
                        std::string(dtype.name()) + ", which is of a lesser kind: weft::astype converts it");
    }
    const Dims first(static_cast<size_t>(input.ndim()), 0);
    if (input.dtype() == dtype) {
        read_element(input, first, bytes);
        return;
    }
    if (input.dtype().is_integer() && dtype.is_integer() && !fits(input, first, dtype))
        throw OverflowError(to_string(input) + " is out of bounds for " + std::string(dtype.name()));
    read_element(astype(input, dtype), first, bytes);
}

bool truth_of(const array& input) {
    if (input.size() == 0) {
        throw ValueError(
            "The truth value of an empty array is ambiguous. Use `array.size() > 0` to check that an array "
            "is not "
            "empty.");
    }
    if (input.size() > 1) {
        throw ValueError(
            "The truth value of an array with more than one element is ambiguous. Use weft::any(a) or "
            "weft::all(a)");
    }
    bool value = false;
    const Dims first(static_cast<size_t>(input.ndim()), 0);
    read_element(input.dtype().is_bool() ? input : astype(input, ScalarType::kBool), first, &value);
    return value;
}

void check_is_scalar(const array& input) {
    if (input.ndim() != 0) throw TypeError("only 0-dimensional arrays can be converted to scalars");
}

// ---- memory ----

namespace creation {

namespace {

Dims shape_of(size_t count, const Shape& shape) {
    Dims found = shape;
    int64_t known = 1, open = -1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (shape[axis] == -1 && open < 0) {
            open = static_cast<int64_t>(axis);
        } else if (shape[axis] < 0) {
            throw ValueError(open < 0 ? "negative dimensions are not allowed"
                                      : "can only specify one unknown dimension");
        }
    }
    for (const int64_t extent : shape) {
        if (extent != -1 && __builtin_mul_overflow(known, extent, &known)) known = -1;
    }
    const auto size = static_cast<int64_t>(count);
    const bool divides = open >= 0 && known > 0 && size % known == 0;
    if (divides) found[static_cast<size_t>(open)] = size / known;
    if (open >= 0 ? !divides : known != size) {
        throw ValueError("cannot reshape array of size " + std::to_string(count) + " into shape " +
                         shape_text(shape));
    }
    return found;
}

}  // namespace

array from_elements(const void* elements, size_t count, DType dtype, const Shape& shape) {
    const Dims extents = shape_of(count, shape);
    return copy_in(elements, dtype, extents, c_strides(extents, dtype.itemsize()));
}

array over_elements(void* elements, size_t count, DType dtype, const Shape& shape, bool writeable,
                    std::function<void()> release) {
    const Dims extents = shape_of(count, shape);
    return weft::share(
        elements, dtype, extents, c_strides(extents, dtype.itemsize()), writeable,
        release ? std::move(release) : [] {});
}

void check_dtype(const array& input, DType dtype) {
    if (input.dtype() == dtype) return;
    throw TypeError("the elements are " + std::string(input.dtype().name()) + ", not " +
                    std::string(dtype.name()) + ": weft::astype converts them");
}

void check_elements(const array& input, DType dtype) {
    check_dtype(input, dtype);
    if (!input.c_contiguous()) {
        throw ValueError(
            "the elements do not lie one after the other in C order, as a std::span has them: weft::copy(a, "
            "'C') "
            "does so");
    }
}

}  // namespace creation

// ---- as another ----

array full_like(const array& prototype, const Argument& value, std::optional<DType> dtype) {
    array made = empty_like(prototype, dtype, 'K', {});
    assign(made, value);
    return made;
}

array zeros_like(const array& prototype, std::optional<DType> dtype) {
    return full_like(prototype, false, dtype);
}

array ones_like(const array& prototype, std::optional<DType> dtype) {
    return full_like(prototype, true, dtype);
}

}  // namespace weft
