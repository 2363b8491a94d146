// Where GPUs can read structures: they read numbers at multiples of their size only.
#pragma once

#include "lang/structures/layout.h"

namespace weft::lang {

// At multiples of so many bytes structures are, wherever a program has them, as long as their memory is.
// Those that are packed are at multiples of what their size is one of.
int64_t alignment_of(const Layout& layout);
// Whether a GPU can read the field of each structure of an array.
bool is_aligned(const Layout& layout, const LayoutField& field);
// Pieces of so many bytes it can read otherwise.
int64_t piece_of(const Layout& layout, const LayoutField& field);

}  // namespace weft::lang
