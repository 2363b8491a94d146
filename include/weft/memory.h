// The elements of an array as C++ sees memory: as a std::span without a copy, as a std::vector with one, and
// memory of the program's own as an array. docs/guide/sharing.md tells the rules of memory that is exported.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "weft/creation.h"
#include "weft/ops.h"

namespace weft {

/// An array's memory, from its making to its end: what is pending is computed first, and meanwhile operations
/// on the array run eagerly and in place, so that both sides see what the other writes. T is const to read.
///
///     weft::Elements<const double> x(a);
///     const double sum = std::accumulate(x.begin(), x.end(), 0.0);
///
/// Throws TypeError where T is not the array's dtype, ValueError where the elements do not lie in C order one
/// after the other (weft::copy(a, 'C') has them so) or must not be written, BufferError for an array on a
/// GPU.
template <class T>
    requires ElementType<std::remove_const_t<T>>
class Elements {
public:
    explicit Elements(const array& input) {
        creation::check_elements(input, dtype_of<T>());
        view_ = HostView(input, !std::is_const_v<T>);
        span_ = {reinterpret_cast<T*>(view_.data()), static_cast<size_t>(input.size())};
    }

    std::span<T> span() const { return span_; }
    operator std::span<T>() const { return span_; }
    T* data() const { return span_.data(); }
    size_t size() const { return span_.size(); }
    T* begin() const { return span_.data(); }
    T* end() const { return span_.data() + span_.size(); }
    T& operator[](size_t index) const { return span_[index]; }

private:
    HostView view_;
    std::span<T> span_;
};

/// A copy of all elements in C order, whatever the layout. Throws TypeError where T is not the dtype.
template <ElementType T>
    requires(!std::same_as<T, bool>)
std::vector<T> to_vector(const array& input) {
    creation::check_dtype(input, dtype_of<T>());
    std::vector<T> values(static_cast<size_t>(input.size()));
    copy_out(input, values.data());
    return values;
}

/// The program's own memory as an array, without a copy: both see what the other writes, so operations on the
/// array run at the call. The memory has to live until `release` is called, which any thread may do. Of const
/// elements the array is read-only. Throws ValueError where their number does not make the shape.
template <class T>
    requires ElementType<std::remove_const_t<T>>
array share(std::span<T> elements, const Shape& shape, std::function<void()> release = [] {}) {
    return creation::over_elements(const_cast<std::remove_const_t<T>*>(elements.data()), elements.size(),
                                   dtype_of<T>(), shape, !std::is_const_v<T>, std::move(release));
}
template <class T>
    requires ElementType<std::remove_const_t<T>>
array share(std::span<T> elements) {
    return share(elements, {elements.size()});
}

/// An array over the vector's memory, which it keeps.
template <ElementType T>
    requires(!std::same_as<T, bool>)
array share(std::vector<T>&& values, const Shape& shape) {
    const auto kept = std::make_shared<std::vector<T>>(std::move(values));
    return share(std::span<T>(*kept), shape, [kept] {});
}
template <ElementType T>
    requires(!std::same_as<T, bool>)
array share(std::vector<T>&& values) {
    const Shape shape{values.size()};
    return share(std::move(values), shape);
}

}  // namespace weft
