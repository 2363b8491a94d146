// Texts looked up among others, in order or by a table.
#pragma once

#include <cstdint>

#include "library/texts/row_table.h"
#include "weft/texts.h"

namespace weft::texts {

// to[i] = how many texts of `sorted`, which are in order along one axis, are less than value i, or with
// `right` not larger.
void search_texts(const View& sorted, const View& values, bool right, int64_t* to);

// to[i] = whether text i is among the wanted ones, or with `invert` is not.
void find_rows(const KeyRows& rows, const KeyRows& wanted, bool invert, bool* to);

}  // namespace weft::texts
