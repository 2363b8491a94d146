#include "api/texts/views.h"

#include <string>

namespace weft::texts {

void check(const View& view) {
    if (view.width < 1) throw ValueError("texts are at least one character wide");
    if (view.shape.size() != view.strides.size())
        throw ValueError("a view of texts has a stride for each of its axes");
}

void check_pair(const View& first, const View& second) {
    check(first);
    check(second);
    if (first.character != second.character)
        throw TypeError("texts of bytes and texts of code points cannot be compared");
}

std::pair<View, View> broadcast(const View& first, const View& second) {
    check_pair(first, second);
    const Dims* const shapes[] = {&first.shape, &second.shape};
    const Dims shape = broadcast_shapes(shapes);
    const auto as_common = [&](View view) {
        view.strides = broadcast_strides(view.shape, view.strides, shape);
        view.shape = shape;
        return view;
    };
    return {as_common(first), as_common(second)};
}

Dims with_last(const Dims& of, size_t axis) {
    Dims moved;
    for (size_t d = 0; d < of.size(); ++d) {
        if (d != axis) moved.push_back(of[d]);
    }
    moved.push_back(of[axis]);
    return moved;
}

}  // namespace weft::texts
