// How structures lie in memory: NumPy's structured dtypes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/dtype.h"

namespace weft::lang {

struct Layout;
struct Record;

// A field has numbers or structures, one or as many as its shape says, in the order of C.
struct LayoutField {
    std::string name, title{};  // either names it; most have no title
    int64_t offset = 0;         // in bytes
    ScalarType scalar = ScalarType::kUInt8;
    const Layout* layout = nullptr;  // of structures
    std::vector<int64_t> shape{};
    std::string other{};  // what it has where that is neither: it is copied along with the whole only
};

// Layouts never end, as types do not. Two are equal where their addresses are.
struct Layout {
    std::vector<LayoutField> fields;
    int64_t size = 0;              // in bytes, with what is between and behind the fields
    const void* handle = nullptr;  // whoever made it knows the dtype by that
    // Elements are read as values of this one, field by field, and not as what stands in memory: vectors.
    const Record* record = nullptr;
    char text = 0;  // 'S' or 'U' where elements are texts of `size` bytes and have no fields

    const LayoutField* find(const std::string& name) const;
    std::vector<std::string> names() const;
};

// "structure(x: float64, y: int32)": for messages.
std::string describe(const Layout& layout);

}  // namespace weft::lang
